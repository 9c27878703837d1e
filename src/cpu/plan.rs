//! `plan`: which levels there are, and where each has its slots. Made anew each
//! step, by the cost of looking and of testing that the sizes and the spacing
//! lead to expect.

use glam::Vec3;

use super::measure::{Bin, Space};
use crate::grid::{BINS, Level, MAX_LEVELS};

/// Cost of a range of proxies that is looked up in a box, in swept tests.
pub(crate) const LOOK: f32 = 4.0;
/// Cost of a range that is looked up by its hash: likely a cache miss.
pub(crate) const LOOK_HASHED: f32 = 8.0;
/// Ranges in the own level, in a box and hashed.
pub(crate) const OWN_RANGES: [f32; 2] = [5.0, 14.0];
/// Ranges in a coarser level, in a box and hashed.
pub(crate) const COARSER_RANGES: [f32; 2] = [4.0, 8.0];
/// What part of a level is expected to lie outside a box around most of it.
pub(crate) const OUTSIDE: f32 = 0.05;
/// Slots that each level has outside its box at least.
pub(crate) const FEWEST_HASHED: u32 = 4;

/// The levels of a step.
pub(crate) struct Plan {
    /// Finest first.
    pub(crate) levels: Vec<Level>,
    /// The level of each bin of the histogram.
    pub(crate) level_of_bin: Vec<u8>,
    /// Slots in use.
    pub(crate) slots: u32,
}

/// Makes the plan, with at most `slots` slots.
pub(crate) fn plan(space: &Space, bins: &[Bin], slots: u32) -> Plan {
    let shift = group_shift(bins);
    // Groups of neighbouring bins that are not empty, with their last bin.
    let groups: Vec<(usize, Bin)> = bins
        .chunks(1 << shift)
        .enumerate()
        .filter_map(|(i, bins)| {
            let merged = bins.iter().copied().reduce(|mut a, b| {
                a.merge(&b);
                a
            })?;
            (merged.count > 0).then_some((((i + 1) << shift) - 1, merged))
        })
        .collect();
    let total: f32 = groups.iter().map(|(_, group)| group.count as f32).sum();

    let mut plan = Plan {
        levels: Vec::new(),
        level_of_bin: vec![0; BINS],
        slots: 0,
    };
    let available = slots as f32 - (groups.len() as u32 * 2 * FEWEST_HASHED) as f32;
    let mut first = 0;
    let mut finer = 0.0;
    for end in cuts(space, &groups) {
        let mut merged = groups[first].1;
        groups[first + 1..end]
            .iter()
            .for_each(|(_, group)| merged.merge(group));
        let share = available * (merged.count as f32 / total) * 0.999;
        let level = lay_out(space, &merged, finer, share, plan.slots);
        plan.slots = level.first_hashed + level.hash_mask + 1;
        let last_bin = groups[end - 1].0;
        let first_bin = if first == 0 {
            0
        } else {
            groups[first - 1].0 + 1
        };
        plan.level_of_bin[first_bin..=last_bin].fill(plan.levels.len() as u8);
        plan.levels.push(level);
        finer += merged.count as f32;
        first = end;
    }
    plan
}

/// Bins a group, as a power of two: the fewest that leave at most as many groups
/// as there can be levels.
fn group_shift(bins: &[Bin]) -> u32 {
    (0..)
        .find(|&shift| {
            let used = |bins: &[Bin]| bins.iter().any(|bin| bin.count > 0);
            bins.chunks(1 << shift).filter(|bins| used(bins)).count() <= MAX_LEVELS
        })
        .unwrap_or(0)
}

/// Edge of the cells that a level should have: as small as its proxies allow, but
/// not much finer than the spacing between them, where it saves no tests.
fn cell_edge(space: &Space, proxies: f32, half_cell: f32) -> f32 {
    (2.0 * half_cell)
        .max(0.5 * space.spacing_of(proxies))
        .min(4.0 * crate::MAX_MAGNITUDE)
}

/// Expected cost of a level: what its own proxies and the `finer` ones spend on
/// it, where ranges are looked up at `[in the own level, in a coarser one]`.
fn cost(space: &Space, proxies: f32, finer: f32, cell: f32, looks: [f32; 2]) -> f32 {
    proxies * (looks[0] + 0.5 * space.others(proxies, 1.5 * cell))
        + finer * (looks[1] + space.others(proxies, cell))
}

/// The ends of the runs of groups that become one level each, at the least
/// total cost. What a level costs does not depend on the others, but on how
/// many proxies are finer; so the best cut is found from the finest up.
fn cuts(space: &Space, groups: &[(usize, Bin)]) -> Vec<usize> {
    let looks = [OWN_RANGES[0], COARSER_RANGES[0]].map(|ranges| ranges * LOOK);
    let mut before = vec![0.0];
    groups
        .iter()
        .for_each(|(_, group)| before.push(before[before.len() - 1] + group.count as f32));
    // For each end: the least cost of all up to it, and where its last level begins.
    let mut best: Vec<(f32, usize)> = vec![(0.0, 0)];
    for end in 1..=groups.len() {
        let level = |first: usize| {
            let proxies = before[end] - before[first];
            let half_cell = groups[end - 1].1.half_cell;
            cost(
                space,
                proxies,
                before[first],
                cell_edge(space, proxies, half_cell),
                looks,
            )
        };
        let least = (0..end)
            .map(|first| (best[first].0 + level(first), first))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        best.extend(least);
    }
    let mut ends = Vec::new();
    let mut end = groups.len();
    while end > 0 {
        ends.push(end);
        end = best[end].1;
    }
    ends.reverse();
    ends
}

/// Gives a level its cells and slots, from slot `first` on and at most `share`
/// of them: a box around all its proxies, or around most of them with a hash
/// for the rest, or only a hash, whichever is expected to cost least.
fn lay_out(space: &Space, group: &Bin, finer: f32, share: f32, first: u32) -> Level {
    let proxies = group.count as f32;
    let edge = cell_edge(space, proxies, group.half_cell);
    let whole = group.bounds;
    let trimmed = [
        whole[0].max(space.trimmed[0]),
        whole[1].min(space.trimmed[1]),
    ];
    let looks = |hashed: f32| {
        [OWN_RANGES, COARSER_RANGES]
            .map(|[boxed, hash]| boxed * LOOK * (1.0 - hashed) + hash * LOOK_HASHED * hashed)
    };
    // Box, slots for it, slots for the rest, and what part is expected outside.
    let layouts = [
        (whole, share, 0.0, 0.0),
        (trimmed, share * 0.75, share * 0.25, OUTSIDE),
        (whole, 0.0, share, 1.0),
    ];
    let choices = layouts.map(|(bounds, slots, hashed_slots, outside)| {
        let fitted = if slots == 0.0 {
            Some(edge)
        } else {
            fit(bounds, edge, slots)
        };
        let spent = fitted.map_or(f32::INFINITY, |cell| {
            cost(space, proxies, finer, cell, looks(outside))
        });
        (
            spent,
            fitted.unwrap_or(edge),
            bounds,
            slots > 0.0,
            hashed_slots,
        )
    });
    let [mut choice, others @ ..] = choices;
    for other in others {
        if other.0 < choice.0 {
            choice = other;
        }
    }
    let (_, cell, bounds, boxed, hashed_slots) = choice;
    let mut level = Level {
        cell,
        inverse_cell: 1.0 / cell,
        first_slot: first,
        proxies: group.count,
        ..Level::default()
    };
    if boxed {
        let (low, high) = (level.cell_of(bounds[0]), level.cell_of(bounds[1]));
        for axis in 0..3 {
            // One more on each side, so that most rows lie within.
            level.origin[axis] = low[axis] - 1;
            level.dims[axis] = (high[axis] - low[axis] + 3) as u32;
        }
    }
    level.first_hashed = first + level.dims.iter().product::<u32>();
    let hashed = (hashed_slots as u32).max(FEWEST_HASHED);
    level.hash_mask = (1 << hashed.ilog2()) - 1;
    level
}

/// The least edge, from `edge` up, with which the box has at most `slots` cells.
/// None if it has no volume, or no reasonable edge would do.
fn fit(bounds: [Vec3; 2], edge: f32, slots: f32) -> Option<f32> {
    let extent = bounds[1] - bounds[0];
    if extent.min_element() < 0.0 {
        return None;
    }
    // One cell more than the extent, one on each side, and one for rounding.
    let cells = |edge: f32| (extent / edge + 4.0).element_product();
    std::iter::successors(Some(edge), |edge| Some(edge * 1.125))
        .take(64)
        .find(|&edge| cells(edge) <= slots)
}
