//! Size ranges, from which the levels are made. Twin of `shaders/collide/parts/plan_ranges.wgsl`.

use arrayvec::ArrayVec;

use crate::cpu::measure::SizeClass;
use crate::shared::sets::Sets;
use crate::shared::size_class::{class_power, class_set};
use crate::shared::tag::MAX_LEVELS;
use crate::shared::tuning::MAX_RANGE_SHIFT;

pub(super) type PerLevel<T> = ArrayVec<T, MAX_LEVELS>;

/// Proxies of neighbouring size classes of one set, of one power. Ranges that share a level are
/// merged, and their powers may differ.
#[derive(Clone)]
pub(super) struct SizeRange {
    pub(super) all: SizeClass,
    pub(super) power: u32,
    pub(super) set: u32,
    pub(super) last_class: usize,
    /// Proxies of other levels are assumed to search this range if they are smaller or,
    /// with two sets, exactly as large. A merged range has the smallest limit of its parts,
    /// with two sets the largest.
    reference: f32,
    pub(super) finer: f32,
}

impl SizeRange {
    /// Whether its proxies are smaller than those of `other` or, with two sets, not larger
    /// and of the other set. Used for estimates of cost.
    pub(super) fn searches(&self, other: &Self, sets: Sets) -> bool {
        if sets.are_two() {
            self.set != other.set && self.all.half_cell <= other.reference
        } else {
            self.all.half_cell < other.reference
        }
    }

    /// Both of one set, and both cut or both uncut: a level of segments may have time
    /// slabs, but an uncut sphere spans the whole step.
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

/// Joins size classes into ranges, as narrow as possible, but at most [`MAX_LEVELS`].
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
