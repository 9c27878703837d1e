//! Runs of spheres or time segments of similar size (size ranges), from which the grids are made.
//! Twin of `shaders/shared/plan_ranges.wgsl`.

use arrayvec::ArrayVec;

use crate::cpu::measure::SizeClass;
use crate::shared::sets::Sets;
use crate::shared::size_class::{class_power, class_set};
use crate::shared::tag::MAX_LEVELS;
use crate::shared::tuning::MAX_RANGE_SHIFT;

pub(super) type PerLevel<T> = ArrayVec<T, MAX_LEVELS>;

/// A size range: one or more neighbouring size classes. In a step of two sets, all its spheres are
/// of the same set. At first, all spheres of a range are cut into the same number of time segments.
/// Later, the ranges of each grid are merged into one. In a merged range, the numbers of time
/// segments may differ.
#[derive(Clone)]
pub(super) struct SizeRange {
    pub(super) all: SizeClass,
    /// log₂ of the number of time segments into which each sphere of the range is cut. If several
    /// ranges are merged into one, it has the smallest of their values.
    pub(super) power: u32,
    pub(super) set: u32,
    pub(super) last_class: usize,
    /// Size limit for the spheres of other grids: smaller spheres search this grid. In a step of
    /// two sets, spheres exactly as large as the limit search it, too. If several size ranges are
    /// merged into one, it has the smallest of their limits. In a step of two sets, it has the
    /// largest of them.
    reference: f32,
    pub(super) finer: f32,
}

impl SizeRange {
    /// Returns whether the spheres of this size range search among those of the other range.
    /// Smaller spheres search among larger ones. In a step of two sets, spheres search only among
    /// those of the other set, and also among spheres of the same size. This is used for estimates
    /// of cost.
    pub(super) fn searches(&self, other: &Self, sets: Sets) -> bool {
        if sets.are_two() {
            self.set != other.set && self.all.half_cell <= other.reference
        } else {
            self.all.half_cell < other.reference
        }
    }

    /// Returns whether spheres of two sizes may be in one grid: both of one set, and both cut into
    /// time segments or both uncut. A grid of time segments may have separate cells for parts of
    /// the step, but an uncut sphere spans the whole step.
    pub(super) fn shares_level(&self, other: &Self) -> bool {
        self.set == other.set && (self.power > 0) == (other.power > 0)
    }

    pub(super) fn merge(&mut self, other: &Self, sets: Sets) {
        self.all.merge(&other.all);
        self.power = self.power.min(other.power);
        let (least, most) = if sets.are_two() {
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

/// Joins neighbouring size classes into size ranges. The ranges are as narrow as possible, but
/// there are at most [`MAX_LEVELS`].
pub(super) fn size_ranges(classes: &[(usize, SizeClass)], sets: Sets) -> PerLevel<SizeRange> {
    let runs = |shift: u32| classes.chunk_by(move |a, b| a.0 >> shift == b.0 >> shift);
    let shift = (0..MAX_RANGE_SHIFT)
        .find(|&shift| runs(shift).count() <= MAX_LEVELS)
        .unwrap_or(MAX_RANGE_SHIFT);
    let mut ranges: PerLevel<SizeRange> = runs(shift)
        .map(|classes| {
            let i = classes[0].0 >> shift;
            let mut all = SizeClass::EMPTY;
            classes.iter().for_each(|(_, class)| all.merge(class));
            SizeRange {
                all,
                reference: all.half_cell,
                power: class_power(i << shift),
                set: class_set(i << shift),
                last_class: ((i + 1) << shift) - 1,
                finer: 0.0,
            }
        })
        .collect();
    for i in 0..ranges.len() {
        let smaller = ranges
            .iter()
            .filter(|range| range.searches(&ranges[i], sets));
        ranges[i].finer = smaller.map(|range| range.all.count as f32).sum();
    }
    ranges
}
