//! Makes the plan of a step.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are few levels and size classes"
)]

use std::iter::repeat_n;
use std::ops::Range;

use super::layout::lay_out;
use super::levels::level_ends;
use super::searches::{Side, max_candidates, searched_levels};
use super::size_ranges::{PerLevel, SizeRange, size_ranges};
use crate::cpu::measure::SizeClass;
use crate::reuse::ReusedVec;
use crate::shared::grid::Level;
use crate::shared::sets::Sets;
use crate::shared::size_class::SIZE_CLASSES;
use crate::shared::space::Space;
use crate::shared::tuning::{MIN_HASHED_SLOTS, USABLE_SLOTS};

pub(crate) struct Plan<'a> {
    pub(crate) levels: PerLevel<Level>,
    pub(crate) searched: PerLevel<u64>,
    pub(crate) level_of_class: &'a [u8],
    pub(crate) slots: u32,
}

struct Draft {
    level: Level,
    range: SizeRange,
    classes: Range<usize>,
}

/// Chooses the levels, with at most `slots` slots.
pub(crate) fn plan<'a>(
    space: &Space,
    classes: &[(usize, SizeClass)],
    sets: Sets,
    slots: u32,
    level_of_class: &'a mut ReusedVec<u8>,
) -> Plan<'a> {
    let mut drafts = draft_levels(space, classes, sets, slots);
    drafts.sort_unstable_by(|one, other| {
        let by_cell = one.level.cell.total_cmp(&other.level.cell);
        by_cell.then(one.classes.start.cmp(&other.classes.start))
    });
    let level_of_class = level_of_class.refill(repeat_n(0, SIZE_CLASSES));
    let mut slots = 0;
    for (draft, number) in drafts.iter_mut().zip(0..) {
        draft.level.first_slot += slots;
        draft.level.first_hashed += slots;
        slots = draft.level.slots().end as u32;
        level_of_class[draft.classes.clone()].fill(number);
    }
    let sides: PerLevel<Side<'_>> = drafts
        .iter()
        .map(|Draft { level, range, .. }| Side { level, range })
        .collect();
    Plan {
        levels: drafts.iter().map(|draft| draft.level).collect(),
        searched: searched_levels(space, &sides, sets),
        level_of_class,
        slots,
    }
}

fn draft_levels(
    space: &Space,
    classes: &[(usize, SizeClass)],
    sets: Sets,
    slots: u32,
) -> PerLevel<Draft> {
    let ranges = size_ranges(classes, sets);
    let total: f32 = ranges.iter().map(|range| range.all.count as f32).sum();
    let available = slots as f32 - (ranges.len() as u32 * 2 * MIN_HASHED_SLOTS) as f32;
    let mut first = 0;
    let mut first_class = 0;
    let draft = |end: usize| {
        let mut range = ranges[first].clone();
        ranges[first + 1..end]
            .iter()
            .for_each(|other| range.merge(other, sets));
        let share = available * (range.all.count as f32 / total) * USABLE_SLOTS;
        let level = lay_out(space, &ranges, &range, sets, share);
        let end_class = ranges[end - 1].last_class + 1;
        let classes = first_class..end_class;
        (first, first_class) = (end, end_class);
        Draft {
            level,
            range,
            classes,
        }
    };
    level_ends(space, &ranges, sets)
        .into_iter()
        .map(draft)
        .collect()
}

impl Plan<'_> {
    /// `fullest` is the number of proxies in the fullest slot.
    pub(crate) fn max_candidates(&self, starts: &[u32], fullest: u32) -> u64 {
        max_candidates(&self.levels, &self.searched, starts, fullest)
    }
}
