//! Divides size ranges into levels. Twin of `shaders/collide/parts/plan_levels.wgsl`.

use super::size_ranges::{PerLevel, SizeRange};
use crate::shared::sets::Sets;
use crate::shared::space::Space;
use crate::shared::tag::MAX_LEVELS;
use crate::shared::tuning::{COARSER_RANGES, OWN_RANGES, SEARCH_COST};

/// Divides the size ranges into levels at the least total cost, by dynamic programming. Returns
/// the end of each level's ranges.
pub(super) fn level_ends(space: &Space, ranges: &[SizeRange], sets: Sets) -> PerLevel<usize> {
    // Entry k is for the first k size ranges: the least cost, and the first range of the
    // last level.
    let mut best = [(0.0, 0); MAX_LEVELS + 1];
    for end in 1..=ranges.len() {
        let mut level = ranges[end - 1].clone();
        let mut least = (f32::INFINITY, end - 1);
        for first in (0..end)
            .rev()
            .take_while(|&first| ranges[first].shares_level(&ranges[end - 1]))
        {
            if first < end - 1 {
                level.merge(&ranges[first], sets);
            }
            let (own, from_finer) = level_costs(space, &level, sets);
            let cost = best[first].0 + own + from_finer;
            if cost < least.0 {
                least = (cost, first);
            }
        }
        best[end] = least;
    }
    let mut ends = PerLevel::new();
    let mut end = ranges.len();
    while end > 0 {
        ends.push(end);
        end = best[end].1;
    }
    ends.reverse();
    ends
}

/// By its own proxies, and by the smaller ones of other levels.
fn level_costs(space: &Space, level: &SizeRange, sets: Sets) -> (f32, f32) {
    let proxies = level.all.count as f32;
    let slab = proxies / (1_u32 << level.power) as f32;
    let cell = space.cell_edge(slab, level.all.half_cell);
    let own = if sets.are_two() {
        0.0
    } else {
        proxies * (OWN_RANGES * SEARCH_COST + 0.5 * space.others(slab, 1.5 * cell))
    };
    let coarser = COARSER_RANGES * SEARCH_COST;
    (own, level.finer * (coarser + space.others(proxies, cell)))
}
