//! Decides, for any two levels, which of them searches the other. Twin of
//! `shaders/collide/parts/plan_searches.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "a bound on the number of candidates need not be exact"
)]

use super::size_ranges::{PerLevel, SizeRange};
use crate::shared::grid::Level;
use crate::shared::sets::Sets;
use crate::shared::space::Space;
use crate::shared::tuning::{MAX_COARSER_CELLS, MAX_OWN_CELLS, SEARCH_COST};

#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) level: &'a Level,
    pub(super) range: &'a SizeRange,
}

pub(super) fn searched_levels(space: &Space, sides: &[Side<'_>], sets: Sets) -> PerLevel<u64> {
    let mut searched: PerLevel<u64> = sides.iter().map(|_| 0).collect();
    for (coarse, &coarse_side) in sides.iter().enumerate() {
        for (fine, &fine_side) in sides[..coarse].iter().enumerate() {
            if sets.are_two() && fine_side.range.set == coarse_side.range.set {
                continue;
            }
            if coarse_searches_fine(space, coarse_side, fine_side) {
                searched[coarse] |= 1 << fine;
            } else {
                searched[fine] |= 1 << coarse;
            }
        }
    }
    searched
}

/// Whether `coarse` should search `fine`, instead of the reverse, by the expected cost. Rare
/// unless `coarse` has few proxies.
fn coarse_searches_fine(space: &Space, coarse: Side<'_>, fine: Side<'_>) -> bool {
    let level = fine.level;
    // Many small cells are searched fast only if they form few ranges. So each must have its
    // own slot, without time slabs.
    let all_in_box = fine.range.all.bounds.iter().all(|corner| {
        let [x, y, z] = level.cell_of(corner.to_array());
        level.in_box(x, x, y, z)
    });
    if !all_in_box || level.time_power > 0 {
        return false;
    }
    let shift = coarse.level.time_power;
    let slabs = (1_u32 << shift.saturating_sub(fine.range.power)) as f32;
    search_cost(space, coarse, fine, 1.0) < search_cost(space, fine, coarse, slabs)
}

fn search_cost(space: &Space, from: Side<'_>, to: Side<'_>, slabs: f32) -> f32 {
    let [count, others] = [from, to].map(|side| side.range.all.count as f32);
    let (from, to) = (from.level, to.level);
    let along = from.cell * to.inverse_cell + 2.0;
    // A level without a box has `dims` of 0, and no such limit.
    let [_, rows, planes] = to.dims.map(|cells| match cells {
        0 => along,
        _ => along.min(cells as f32),
    });
    count * (rows * planes * SEARCH_COST * slabs + space.others(others, 0.5 * from.cell + to.cell))
}

/// Bounds the candidates: the largest number of slots that a proxy can search, summed over all
/// proxies, times `fullest`.
///
/// In a coarser level, these are at most 4 along each axis. In a finer one, they are r + 3,
/// where r is the ratio of the edges, or all slots if any of its proxies lies outside its box.
///
/// Twin of `shaders/collide/parts/plan_searches.wgsl` and `shaders/shared/crowd.wgsl`.
pub(super) fn max_candidates(
    levels: &[Level],
    searched: &[u64],
    starts: &[u32],
    fullest: u32,
) -> u64 {
    let entries_of = |(number, own): (usize, &Level)| {
        let numbered = levels.iter().enumerate();
        let others = numbered.filter(|&(other, _)| searched[number] >> other & 1 == 1);
        let entries = others.map(|(other, level)| {
            let entries = if other > number {
                f64::from(MAX_COARSER_CELLS)
            } else if level.has_outside(starts) {
                level.slots().len() as f64
            } else {
                let along = f64::from(own.cell * level.inverse_cell) + 3.0;
                let dims = level.dims.map(|cells| along.min(cells.into()));
                dims.iter().product()
            };
            entries * f64::from(1_u32 << level.time_power)
        });
        let entries = f64::from(MAX_OWN_CELLS) + entries.sum::<f64>();
        own.spheres(starts).len() as f64 * entries
    };
    let entries: f64 = levels.iter().enumerate().map(entries_of).sum();
    (entries * f64::from(fullest)) as u64
}
