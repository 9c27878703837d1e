//! Runs of size classes: what levels are made of. Twin of `shaders/shared/plan_ranges.wgsl`.

use arrayvec::ArrayVec;

use crate::cpu::measure::SizeClass;
use crate::shared::sets::Sets;
use crate::shared::size_class::{class_power, class_set};
use crate::shared::tag::MAX_LEVELS;
use crate::shared::tuning::MAX_RANGE_SHIFT;

/// One item for each level, or for each size range.
pub(super) type PerLevel<T> = ArrayVec<T, MAX_LEVELS>;

/// A run of size classes of one set and one power of segments, with some proxies; or the
/// runs of a level together.
#[derive(Clone)]
pub(super) struct SizeRange {
    /// All of its proxies.
    pub(super) all: SizeClass,
    /// The power of segments; of several runs the least.
    pub(super) power: u32,
    /// The set of its spheres.
    pub(super) set: u32,
    /// The number of its last size class.
    pub(super) last_class: usize,
    /// Half of the cell size that decides who searches this range. In one set it is that of
    /// the smallest run, for the other runs of the level are no finer. Between two sets it is
    /// that of the largest, for smaller proxies search the level's cells.
    reference: f32,
    /// Proxies of all smaller ranges that search this one.
    pub(super) finer: f32,
}

impl SizeRange {
    /// Whether its proxies search for those of another range, and not those for them;
    /// between two sets, ranges of one size may search each other.
    pub(super) fn searches(&self, other: &Self, sets: Sets) -> bool {
        if sets.are_two() {
            self.set != other.set && self.all.half_cell <= other.reference
        } else {
            self.all.half_cell < other.reference
        }
    }

    /// Whether both may be in one level: ranges of spheres that are cut, whatever their power
    /// of segments, or of spheres that are not. Uncut spheres would take all time slabs from
    /// the others.
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

/// The shortest runs of size classes that are no more than there can be levels.
pub(super) fn size_ranges(classes: &[(usize, SizeClass)], sets: Sets) -> PerLevel<SizeRange> {
    // Neighbours whose numbers are the same but for some low bits.
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
