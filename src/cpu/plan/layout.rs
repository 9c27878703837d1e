//! Chooses the layout of a level: its time slabs, the size of its cells, and its slots. Twin of
//! `shaders/collide/parts/plan_layout.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ slots, and cells are within 2²⁰ of the origin"
)]

use glam::Vec3;

use super::size_ranges::SizeRange;
use crate::shared::grid::Level;
use crate::shared::sets::Sets;
use crate::shared::space::Space;
use crate::shared::tag::SEGMENT_BITS;
use crate::shared::tuning::{
    CELL_GROWTH, CELL_GROWTH_STEPS, COARSER_RANGES, HASHED_COARSER_RANGES, HASHED_OWN_RANGES,
    HASHED_SEARCH_COST, MAX_SLABS_POWER, MIN_HASHED_SHARE, MIN_HASHED_SLOTS, OWN_RANGES,
    SEARCH_COST,
};

/// One slot for each cell inside a box, and the others by a hash.
#[derive(Clone, Copy)]
struct Layout {
    bounds: [Vec3; 2],
    boxed_slots: f32,
    hashed_slots: f32,
    outside: f32,
}

impl Layout {
    /// Returns three layouts with `share` slots: a box around all proxies, one around most
    /// of them, and none.
    fn all(space: &Space, range: &SizeRange, share: f32) -> [Self; 3] {
        let whole = range.all.bounds;
        let trimmed = [
            whole[0].max(space.trimmed[0]),
            whole[1].min(space.trimmed[1]),
        ];
        let outside = 1.0 - range.all.inside as f32 / range.all.count as f32;
        let hashed = share * outside.clamp(MIN_HASHED_SHARE, 1.0);
        let layout = |bounds, boxed_slots, hashed_slots, outside| Self {
            bounds,
            boxed_slots,
            hashed_slots,
            outside,
        };
        [
            layout(whole, share, 0.0, 0.0),
            layout(trimmed, share - hashed, hashed, outside),
            layout(whole, 0.0, share, 1.0),
        ]
    }

    fn has_box(&self) -> bool {
        self.outside < 1.0
    }

    /// Enlarges `edge` until each cell in the box can have a slot in each of `slabs` time
    /// slabs, or returns `None`. Without a box, keeps it.
    fn cell(&self, edge: f32, slabs: f32) -> Option<f32> {
        if self.has_box() {
            fit(self.bounds, edge, self.boxed_slots / slabs)
        } else {
            Some(edge)
        }
    }
}

#[derive(Clone, Copy)]
struct Arrangement {
    layout: Layout,
    cell: f32,
    time_power: u32,
}

/// Makes the level of the size range `range` with the least expected cost, with at most `share`
/// + [`MIN_HASHED_SLOTS`] slots. Smaller proxies of `ranges` also search it.
pub(super) fn lay_out(
    space: &Space,
    ranges: &[SizeRange],
    range: &SizeRange,
    sets: Sets,
    share: f32,
) -> Level {
    let layouts = Layout::all(space, range, share);
    let finer = || ranges.iter().filter(|finer| finer.searches(range, sets));
    let longest = finer()
        .map(|range| range.power)
        .min()
        .unwrap_or(SEGMENT_BITS);
    let mut least = f32::INFINITY;
    let mut best = Arrangement {
        layout: layouts[2],
        cell: 0.0,
        time_power: 0,
    };
    for time_power in 0..=range.power.min(longest + MAX_SLABS_POWER) {
        let slabs = (1_u32 << time_power) as f32;
        let edge = space.cell_edge(range.all.count as f32 / slabs, range.all.half_cell);
        for layout in layouts {
            let Some(cell) = layout.cell(edge, slabs) else {
                continue;
            };
            let arrangement = Arrangement {
                layout,
                cell,
                time_power,
            };
            let cost = arrangement.cost(space, range, finer(), sets);
            if cost < least {
                (least, best) = (cost, arrangement);
            }
        }
    }
    best.level(range)
}

impl Arrangement {
    /// By its own proxies, `range`, and by the smaller ones of `finer`.
    fn cost<'a>(
        &self,
        space: &Space,
        range: &SizeRange,
        finer: impl Iterator<Item = &'a SizeRange>,
        sets: Sets,
    ) -> f32 {
        let proxies = range.all.count as f32;
        let slabs = (1_u32 << self.time_power) as f32;
        let outside = self.layout.outside;
        let of_ranges = |boxed: f32, hashed: f32| {
            boxed * SEARCH_COST * (1.0 - outside) + hashed * HASHED_SEARCH_COST * outside
        };
        let mut cost = if sets.are_two() {
            0.0
        } else {
            let own = of_ranges(OWN_RANGES, HASHED_OWN_RANGES);
            proxies * (own + 0.5 * space.others(proxies, 1.5 * self.cell) / slabs)
        };
        let coarser = of_ranges(COARSER_RANGES, HASHED_COARSER_RANGES);
        let others = space.others(proxies, self.cell);
        for range in finer {
            // A segment searches each time slab that it overlaps, but finds no more
            // proxies in all of them together.
            let searches = (1_u32 << self.time_power.saturating_sub(range.power)) as f32;
            let met = others / (1_u32 << self.time_power.min(range.power)) as f32;
            cost += range.all.count as f32 * (coarser * searches + met);
        }
        cost
    }

    fn level(&self, range: &SizeRange) -> Level {
        let mut level = Level {
            of_set: range.set,
            cell: self.cell,
            inverse_cell: 1.0 / self.cell,
            time_power: self.time_power,
            ..Level::default()
        };
        level.reach = range.all.half_cell * level.inverse_cell;
        if self.layout.has_box() {
            let bounds = self.layout.bounds;
            let [low, high] = bounds.map(|corner| level.cell_of(corner.to_array()));
            for axis in 0..3 {
                level.origin[axis] = low[axis] - 1;
                level.dims[axis] = (high[axis] - low[axis] + 3) as u32;
            }
        }
        level.first_hashed = level.dims.iter().product::<u32>() << level.time_power;
        let hashed = (self.layout.hashed_slots as u32).max(MIN_HASHED_SLOTS);
        level.hash_mask = (1 << hashed.ilog2()) - 1;
        level
    }
}

/// Enlarges `edge` until the box `bounds` has at most `slots` cells. `None` if it is empty or
/// still has too many after [`CELL_GROWTH_STEPS`] tries.
fn fit(bounds: [Vec3; 2], edge: f32, slots: f32) -> Option<f32> {
    let extent = bounds[1] - bounds[0];
    if extent.min_element() < 0.0 {
        return None;
    }
    // 4 more: for the remainder, the two ends, and rounding.
    let cells = |edge: f32| (extent / edge + 4.0).element_product();
    std::iter::successors(Some(edge), |edge| Some(edge * CELL_GROWTH))
        .take(CELL_GROWTH_STEPS as usize)
        .find(|&edge| cells(edge) <= slots)
}
