//! Size ranges: the runs of size classes that levels are made of. Twin of
//! `shaders/shared/plan_ranges.wgsl`.

use arrayvec::ArrayVec;

use crate::cpu::measure::SizeClass;
use crate::shared::sets::Sets;
use crate::shared::size_class::{class_power, class_set};
use crate::shared::tag::MAX_LEVELS;
use crate::shared::tuning::MAX_RANGE_SHIFT;

/// One item for each level, or for each size range.
pub(super) type PerLevel<T> = ArrayVec<T, MAX_LEVELS>;

/// A run of size classes of one set and one power of segments that has proxies; or several such
/// runs, merged into a level.
#[derive(Clone)]
pub(super) struct SizeRange {
    /// All of its proxies.
    pub(super) all: SizeClass,
    /// The power of segments, or the least power of several runs.
    pub(super) power: u32,
    /// The set of its spheres.
    pub(super) set: u32,
    /// The number of its last size class.
    pub(super) last_class: usize,
    /// Half the cell size at which other ranges search this one ([`SizeRange::searches`]). In one
    /// set, a level takes it from its smallest run, so that no run of the level itself counts as
    /// finer. Between two sets, a level takes it from its largest run, because all smaller proxies
    /// search the cells of the level.
    reference: f32,
    /// Number of proxies in the ranges that search this one.
    pub(super) finer: f32,
}

impl SizeRange {
    /// Whether the proxies of this range search the other range, rather than the reverse. Between
    /// two sets, ranges of equal size search each other. This rule only serves to estimate costs:
    /// `searched_levels` decides about the final levels.
    pub(super) fn searches(&self, other: &Self, sets: Sets) -> bool {
        if sets.are_two() {
            self.set != other.set && self.all.half_cell <= other.reference
        } else {
            self.all.half_cell < other.reference
        }
    }

    /// Whether both ranges may be in one level: they are of one set, and the spheres of both are
    /// cut (into any number of segments) or the spheres of neither. An uncut sphere spans the whole
    /// step, so its level cannot have time slabs.
    pub(super) fn shares_level(&self, other: &Self) -> bool {
        self.set == other.set && (self.power > 0) == (other.power > 0)
    }

    /// Adds another range of the same level.
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

/// Returns the shortest runs of size classes that are no more than [`MAX_LEVELS`].
pub(super) fn size_ranges(classes: &[(usize, SizeClass)], sets: Sets) -> PerLevel<SizeRange> {
    // Neighbouring classes whose numbers differ in the low `shift` bits only.
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
