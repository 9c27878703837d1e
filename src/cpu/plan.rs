//! `plan`: which levels there are, and where each has its slots. Made anew each
//! step, by the cost of looking and of testing that the sizes and the spacing
//! lead to expect.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies and slots, and everything else is less"
)]

use std::iter::repeat_n;

use arrayvec::ArrayVec;
use glam::Vec3;

use super::measure::{Bin, Space};
use crate::reuse::Kept;
use crate::shared::grid::Level;
use crate::shared::size_class::{BINS, bin_power, bin_set};
use crate::shared::tag::{MAX_LEVELS, SEGMENT_BITS};
use crate::shared::tuning::{
    COARSER_RANGES, FEWEST_HASHED, LAST_SHIFT, LOOK, LOOK_HASHED, MOST_SLABS, OWN_RANGES,
};

/// Something for each level, or each group.
type OfEach<T> = ArrayVec<T, MAX_LEVELS>;

/// The levels of a step.
pub(crate) struct Plan<'a> {
    /// Finest first.
    pub(crate) levels: OfEach<Level>,
    /// Proxies of each.
    pub(crate) proxies: OfEach<u32>,
    /// For each, into which others its proxies look: one bit each.
    pub(crate) looks: OfEach<u64>,
    /// The level of each bin of the histogram.
    pub(crate) level_of_bin: &'a [u8],
    /// Slots in use.
    pub(crate) slots: u32,
}

/// Neighbouring bins of one set and one power of segments, not all empty; or the
/// groups of a level together.
#[derive(Clone)]
struct Group {
    bin: Bin,
    /// The least, of several groups.
    power: u32,
    set: u32,
    last_bin: usize,
    /// Half of the cell that tells who looks for these: in one set that of the
    /// smallest group, for the others of the level are no finer; between two sets
    /// that of the largest, for whoever is smaller looks into the level's cells.
    reference: f32,
    /// Proxies of all smaller groups that look for these.
    finer: f32,
}

impl Group {
    /// Whether its proxies look for those of another group, and not these for
    /// them; between two sets, those of one size may do either.
    fn looks_for(&self, other: &Self, between: bool) -> bool {
        if between {
            self.set != other.set && self.bin.half_cell <= other.reference
        } else {
            self.bin.half_cell < other.reference
        }
    }

    /// Whether both may be in one level: of spheres that are cut, though not alike,
    /// or of such as are not. One that is not would take all time slabs from others.
    fn shares_level(&self, other: &Self) -> bool {
        self.set == other.set && (self.power > 0) == (other.power > 0)
    }

    /// With one more group in the level.
    fn merge(&mut self, other: &Self, between: bool) {
        self.bin.merge(&other.bin);
        self.power = self.power.min(other.power);
        let (least, most) = if between {
            (self.reference, other.reference)
        } else {
            (other.reference, self.reference)
        };
        if least < most {
            self.reference = other.reference;
            self.finer = other.finer;
        }
    }
}

/// Makes the plan, with at most `slots` slots. `between` tells that only pairs
/// between two sets count; `level_of_bin` is memory.
pub(crate) fn plan<'a>(
    space: &Space,
    bins: &[(usize, Bin)],
    between: bool,
    slots: u32,
    level_of_bin: &'a mut Kept<u8>,
) -> Plan<'a> {
    let groups = group(bins, between);
    let total: f32 = groups.iter().map(|group| group.bin.count as f32).sum();
    let available = slots as f32 - (groups.len() as u32 * 2 * FEWEST_HASHED) as f32;

    let mut first = 0;
    let mut levels = OfEach::<(Level, Group, usize)>::new();
    for end in cuts(space, &groups, between) {
        let mut own = groups[first].clone();
        groups[first + 1..end]
            .iter()
            .for_each(|group| own.merge(group, between));
        let share = available * (own.bin.count as f32 / total) * 0.999;
        let level = lay_out(space, &groups, &own, between, share);
        levels.push((level, own, end));
        first = end;
    }
    let mut order: OfEach<usize> = (0..levels.len()).collect();
    order.sort_unstable_by(|&a, &b| {
        levels[a]
            .0
            .cell
            .total_cmp(&levels[b].0.cell)
            .then(a.cmp(&b))
    });
    let mut plan = Plan {
        levels: OfEach::new(),
        proxies: OfEach::new(),
        looks: order.iter().map(|_| 0).collect(),
        level_of_bin: &[],
        slots: 0,
    };
    let level_of_bin = level_of_bin.refill(repeat_n(0, BINS));
    for &number in &order {
        let (mut level, own, end) = levels[number].clone();
        level.first_slot += plan.slots;
        level.first_hashed += plan.slots;
        plan.slots = level.first_hashed + level.hash_mask + 1;
        let first_bin = number
            .checked_sub(1)
            .map_or(0, |before| groups[levels[before].2 - 1].last_bin + 1);
        level_of_bin[first_bin..=groups[end - 1].last_bin].fill(plan.levels.len() as u8);
        plan.levels.push(level);
        plan.proxies.push(own.bin.count);
    }
    for (coarse, number) in order.iter().enumerate() {
        for (fine, other) in order[..coarse].iter().enumerate() {
            let [fine_own, coarse_own] = [other, number].map(|&number| &levels[number].1);
            if between && fine_own.set == coarse_own.set {
                continue;
            }
            // One of them looks for the other: the one to which it costs less.
            if plan.looks_down(space, fine_own, fine, coarse) {
                plan.looks[coarse] |= 1 << fine;
            } else {
                plan.looks[fine] |= 1 << coarse;
            }
        }
    }
    plan.level_of_bin = level_of_bin;
    plan
}

impl Plan<'_> {
    /// Whether it costs less when the proxies of a coarse level look for those of a fine
    /// one than the other way round: when they are few. `fine_own` are all groups of the
    /// fine one.
    fn looks_down(&self, space: &Space, fine_own: &Group, fine: usize, coarse: usize) -> bool {
        let level = &self.levels[fine];
        // Rows are ranges only within a box, and slabs would be many.
        let all_in_box = fine_own.bin.bounds.iter().all(|corner| {
            let [x, y, z] = level.cell_of(corner.to_array());
            level.in_box(x, x, y, z)
        });
        if !all_in_box || level.time_power > 0 {
            return false;
        }
        // One that has longer segments looks into several slabs.
        let shift = self.levels[coarse].time_power;
        let slabs = (1_u32 << shift.saturating_sub(fine_own.power)) as f32;
        self.cost_of_looking(space, coarse, fine, 1.0)
            < self.cost_of_looking(space, fine, coarse, slabs)
    }

    /// What it costs when the proxies of one level look into so many slabs of another.
    fn cost_of_looking(&self, space: &Space, from: usize, to: usize, slabs: f32) -> f32 {
        let [count, others] = [from, to].map(|number| self.proxies[number] as f32);
        let [from, to] = [from, to].map(|number| &self.levels[number]);
        let along = from.cell * to.inverse_cell + 2.0;
        // Beyond the box there are none.
        let [_, rows, planes] = to.dims.map(|cells| match cells {
            0 => along,
            _ => along.min(cells as f32),
        });
        count * (rows * planes * LOOK * slabs + space.others(others, 0.5 * from.cell + to.cell))
    }

    /// More candidates than there can be, if no slot holds more than `fullest`: each
    /// proxy looks into half its neighbourhood, and along each axis into at most 4
    /// cells of coarser levels, in all time slabs, and of finer ones into as many as its
    /// own cell is wide, and 3 more, but no more than there are.
    pub(crate) fn most_candidates(&self, fullest: u32) -> u64 {
        let levels = || self.levels.iter().enumerate();
        let cells_of = |(number, own): (usize, &Level)| {
            let into = levels().filter(|&(other, _)| self.looks[number] >> other & 1 == 1);
            let cells = into.map(|(other, level)| {
                let cells = if other > number {
                    64.0
                } else {
                    let along = f64::from(own.cell * level.inverse_cell) + 3.0;
                    let dims = level.dims.map(|cells| along.min(cells.into()));
                    dims.iter().product()
                };
                cells * f64::from(1_u32 << level.time_power)
            });
            f64::from(self.proxies[number]) * (14.0 + cells.sum::<f64>())
        };
        (levels().map(cells_of).sum::<f64>() * f64::from(fullest)) as u64
    }
}

/// The finest groups that are no more than there can be levels.
fn group(bins: &[(usize, Bin)], between: bool) -> OfEach<Group> {
    // Neighbours whose numbers are the same but for some low bits.
    let chunks = |shift: u32| bins.chunk_by(move |a, b| a.0 >> shift == b.0 >> shift);
    let shift = (0..LAST_SHIFT)
        .find(|&shift| chunks(shift).count() <= MAX_LEVELS)
        .unwrap_or(LAST_SHIFT);
    let mut groups: OfEach<Group> = chunks(shift)
        .map(|bins| {
            let i = bins[0].0 >> shift;
            let mut merged = Bin::EMPTY;
            bins.iter().for_each(|(_, bin)| merged.merge(bin));
            Group {
                bin: merged,
                reference: merged.half_cell,
                power: bin_power(i << shift),
                set: bin_set(i << shift),
                last_bin: ((i + 1) << shift) - 1,
                finer: 0.0,
            }
        })
        .collect();
    for i in 0..groups.len() {
        let smaller = groups
            .iter()
            .filter(|group| group.looks_for(&groups[i], between));
        groups[i].finer = smaller.map(|group| group.bin.count as f32).sum();
    }
    groups
}

/// The ends of the runs of groups that become one level each, at the least
/// total cost. What a level costs depends on how many proxies are smaller than
/// its smallest, not on the cut of those; so the best cut is found from the
/// first group on.
fn cuts(space: &Space, groups: &[Group], between: bool) -> OfEach<usize> {
    let [look, look_coarser] = [OWN_RANGES[0], COARSER_RANGES[0]].map(|ranges| ranges * LOOK);
    // For each end: the least cost of all up to it, and where its last level
    // begins.
    let mut best = [(0.0, 0); MAX_LEVELS + 1];
    for end in 1..=groups.len() {
        let mut level = groups[end - 1].clone();
        let mut least = (f32::INFINITY, end - 1);
        for first in (0..end)
            .rev()
            .take_while(|&first| groups[first].shares_level(&groups[end - 1]))
        {
            if first < end - 1 {
                level.merge(&groups[first], between);
            }
            let proxies = level.bin.count as f32;
            let slab = proxies / (1_u32 << level.power) as f32;
            let cell = space.cell_edge(slab, level.bin.half_cell);
            let own = if between {
                0.0
            } else {
                proxies * (look + 0.5 * space.others(slab, 1.5 * cell))
            };
            let from_finer = level.finer * (look_coarser + space.others(proxies, cell));
            let cost = best[first].0 + own + from_finer;
            if cost < least.0 {
                least = (cost, first);
            }
        }
        best[end] = least;
    }
    let mut ends = OfEach::new();
    let mut end = groups.len();
    while end > 0 {
        ends.push(end);
        end = best[end].1;
    }
    ends.reverse();
    ends
}

/// Gives a level its time slabs, cells and slots, these counted from 0, and at
/// most `share` of them: a box around all its proxies, or around most of them
/// with a hash for the rest, or only a hash, whichever is expected to cost
/// least. `own` are its groups.
fn lay_out(space: &Space, groups: &[Group], own: &Group, between: bool, share: f32) -> Level {
    let bin = own.bin;
    let proxies = bin.count as f32;
    let whole = bin.bounds;
    let trimmed = [
        whole[0].max(space.trimmed[0]),
        whole[1].min(space.trimmed[1]),
    ];
    let outside = 1.0 - bin.inside as f32 / proxies;
    let hashed = share * outside.clamp(0.25, 1.0);
    // Box, slots for it, slots for the rest, and what part is outside.
    let layouts = [
        (whole, share, 0.0, 0.0),
        (trimmed, share - hashed, hashed, outside),
        (whole, 0.0, share, 1.0),
    ];

    let mut level = Level {
        of_set: own.set,
        ..Level::default()
    };
    let mut least = f32::INFINITY;
    let mut chosen = (layouts[2], false);
    let finer = || groups.iter().filter(|group| group.looks_for(own, between));
    let longest = finer()
        .map(|group| group.power)
        .min()
        .unwrap_or(SEGMENT_BITS);
    for power in 0..=own.power.min(longest + MOST_SLABS) {
        let slabs = (1_u32 << power) as f32;
        let edge = space.cell_edge(proxies / slabs, bin.half_cell);
        for layout in layouts {
            let (bounds, slots, _, outside) = layout;
            let boxed = outside < 1.0;
            let Some(cell) = (if boxed {
                fit(bounds, edge, slots / slabs)
            } else {
                Some(edge)
            }) else {
                continue;
            };
            let [look, look_coarser] = [OWN_RANGES, COARSER_RANGES]
                .map(|[boxed, hash]| boxed * LOOK * (1.0 - outside) + hash * LOOK_HASHED * outside);
            let mut cost = if between {
                0.0
            } else {
                proxies * (look + 0.5 * space.others(proxies, 1.5 * cell) / slabs)
            };
            let others = space.others(proxies, cell);
            for group in finer() {
                // One that has longer segments looks into several slabs, all it
                // meets there being as many as in its own time.
                let looks = (1_u32 << power.saturating_sub(group.power)) as f32;
                let met = others / (1_u32 << power.min(group.power)) as f32;
                cost += group.bin.count as f32 * (look_coarser * looks + met);
            }
            if cost < least {
                least = cost;
                level.cell = cell;
                level.time_power = power;
                chosen = (layout, boxed);
            }
        }
    }
    let ((bounds, _, hashed_slots, _), boxed) = chosen;
    level.inverse_cell = 1.0 / level.cell;
    level.reach = bin.half_cell * level.inverse_cell;
    if boxed {
        let [low, high] = bounds.map(|corner| level.cell_of(corner.to_array()));
        for axis in 0..3 {
            // One more on each side, so that most rows lie within.
            level.origin[axis] = low[axis] - 1;
            level.dims[axis] = (high[axis] - low[axis] + 3) as u32;
        }
    }
    level.first_hashed = level.dims.iter().product::<u32>() << level.time_power;
    let hashed = (hashed_slots as u32).max(FEWEST_HASHED);
    level.hash_mask = (1 << hashed.ilog2()) - 1;
    level
}

/// The least edge, from `edge` up, with which the box has at most `slots`
/// cells. None if it has no volume, or no reasonable edge would do.
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
