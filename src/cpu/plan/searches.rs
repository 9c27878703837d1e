//! Decides which levels search which other levels. A level searches another one when its proxies
//! look for candidates there.

#![allow(
    clippy::cast_possible_truncation,
    reason = "a bound on the number of candidates need not be exact"
)]

use super::size_ranges::{PerLevel, SizeRange};
use crate::shared::grid::Level;
use crate::shared::sets::Sets;
use crate::shared::space::Space;
use crate::shared::tuning::{MAX_COARSER_CELLS, MAX_OWN_CELLS, SEARCH_COST};

/// A level, and its size ranges merged into one.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) level: &'a Level,
    pub(super) range: &'a SizeRange,
}

/// Returns, for each level, a bit mask of the levels that its proxies search. The levels are in
/// ascending order of the size of their cells.
pub(super) fn searched_levels(space: &Space, sides: &[Side<'_>], sets: Sets) -> PerLevel<u64> {
    let mut searched: PerLevel<u64> = sides.iter().map(|_| 0).collect();
    for (coarse, &coarse_side) in sides.iter().enumerate() {
        for (fine, &fine_side) in sides[..coarse].iter().enumerate() {
            if sets.are_two() && fine_side.range.set == coarse_side.range.set {
                continue;
            }
            // Of two levels, only one searches the other: the one whose search has the lower
            // expected cost.
            if coarse_searches_fine(space, coarse_side, fine_side) {
                searched[coarse] |= 1 << fine;
            } else {
                searched[fine] |= 1 << coarse;
            }
        }
    }
    searched
}

/// Of two levels, one with coarse and one with fine cells, returns whether it costs less if the
/// proxies of the coarse level search the fine level than the reverse. It costs less if there are
/// few coarse proxies.
fn coarse_searches_fine(space: &Space, coarse: Side<'_>, fine: Side<'_>) -> bool {
    let level = fine.level;
    // A proxy of the coarse level reaches many cells of the fine level. These cells are few ranges
    // of sorted proxies only if all of them lie in the box of the fine level, where a row of cells
    // is one range, and if the fine level has no time slabs.
    let all_in_box = fine.range.all.bounds.iter().all(|corner| {
        let [x, y, z] = level.cell_of(corner.to_array());
        level.in_box(x, x, y, z)
    });
    if !all_in_box || level.time_power > 0 {
        return false;
    }
    // Proxies of the fine level whose time segments are longer than a slab of the coarse level
    // search several slabs there.
    let shift = coarse.level.time_power;
    let slabs = (1_u32 << shift.saturating_sub(fine.range.power)) as f32;
    search_cost(space, coarse, fine, 1.0) < search_cost(space, fine, coarse, slabs)
}

/// Returns the expected cost of the search by all proxies of the level `from` in the level `to`, if
/// each of these proxies searches `slabs` time slabs.
fn search_cost(space: &Space, from: Side<'_>, to: Side<'_>, slabs: f32) -> f32 {
    let [count, others] = [from, to].map(|side| side.range.all.count as f32);
    let (from, to) = (from.level, to.level);
    let along = from.cell * to.inverse_cell + 2.0;
    // The box of the searched level limits the number of rows of cells. A level without a box has
    // box dimensions of 0, which set no limit.
    let [_, rows, planes] = to.dims.map(|cells| match cells {
        0 => along,
        _ => along.min(cells as f32),
    });
    count * (rows * planes * SEARCH_COST * slabs + space.others(others, 0.5 * from.cell + to.cell))
}

/// Returns an upper bound of the number of candidates, given that no slot has more than `fullest`
/// proxies. A proxy searches half its neighbourhood in its own level. In a coarser level, it
/// searches at most 4 cells along each axis. In a finer level, it searches along each axis at most
/// 3 cells more than its own cell is wide there, and at most all cells of that level's box. The
/// cells of other levels count once per time slab. Twin of `shaders/shared/crowd.wgsl`, where no
/// level searches a finer one.
pub(super) fn max_candidates(
    levels: &[Level],
    proxies: &[u32],
    searched: &[u64],
    fullest: u32,
) -> u64 {
    let cells_of = |(number, own): (usize, &Level)| {
        let numbered = levels.iter().enumerate();
        let others = numbered.filter(|&(other, _)| searched[number] >> other & 1 == 1);
        let cells = others.map(|(other, level)| {
            let cells = if other > number {
                f64::from(MAX_COARSER_CELLS)
            } else {
                let along = f64::from(own.cell * level.inverse_cell) + 3.0;
                let dims = level.dims.map(|cells| along.min(cells.into()));
                dims.iter().product()
            };
            cells * f64::from(1_u32 << level.time_power)
        });
        f64::from(proxies[number]) * (f64::from(MAX_OWN_CELLS) + cells.sum::<f64>())
    };
    let cells: f64 = levels.iter().enumerate().map(cells_of).sum();
    (cells * f64::from(fullest)) as u64
}
