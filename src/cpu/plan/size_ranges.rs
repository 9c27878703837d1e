//! Size ranges: runs of neighbouring size classes of proxies, from which the plan makes levels.
//! Twin of `shaders/shared/plan_ranges.wgsl`.

use arrayvec::ArrayVec;

use crate::cpu::measure::SizeClass;
use crate::shared::sets::Sets;
use crate::shared::size_class::{class_power, class_set};
use crate::shared::tag::MAX_LEVELS;
use crate::shared::tuning::MAX_RANGE_SHIFT;

/// A list with one item for each level, or for each size range.
pub(super) type PerLevel<T> = ArrayVec<T, MAX_LEVELS>;

/// A size range: a run of neighbouring size classes that has proxies, of one set and one number of
/// time segments per sphere. Also several size ranges that become one level, merged into one.
#[derive(Clone)]
pub(super) struct SizeRange {
    /// All proxies of the size range.
    pub(super) all: SizeClass,
    /// Power of the spheres: n, if they are cut into 2ⁿ time segments. The least power, if several
    /// size ranges are merged.
    pub(super) power: u32,
    /// Set of the spheres: 0 or 1.
    pub(super) set: u32,
    /// Number of the last size class of the size range.
    pub(super) last_class: usize,
    /// Limit of size at which other size ranges search this one: if their largest half cell is less
    /// than this value or, with two sets, at most this value ([`SizeRange::searches`]). Merged size
    /// ranges of one set have the value of the smallest of them, so that none of them counts as
    /// finer. With two sets they have the value of the largest of them, because all smaller proxies
    /// search the cells of the level.
    reference: f32,
    /// Number of proxies in all size ranges that search this one.
    pub(super) finer: f32,
}

impl SizeRange {
    /// Whether the proxies of this size range search the other range, rather than the reverse, in
    /// the estimates of costs. With two sets, ranges of equal size search each other. In the
    /// finished plan, `searched_levels` decides which levels search which.
    pub(super) fn searches(&self, other: &Self, sets: Sets) -> bool {
        if sets.are_two() {
            self.set != other.set && self.all.half_cell <= other.reference
        } else {
            self.all.half_cell < other.reference
        }
    }

    /// Whether two size ranges may be in one level. They have to be of one set. Either the spheres
    /// of both ranges are cut into time segments (any number of them), or those of neither are. An
    /// uncut sphere spans the whole step, so its level cannot have time slabs.
    pub(super) fn shares_level(&self, other: &Self) -> bool {
        self.set == other.set && (self.power > 0) == (other.power > 0)
    }

    /// Adds another size range of the same level to this one.
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

/// Divides the size classes into at most [`MAX_LEVELS`] size ranges, which are as short as this
/// limit allows.
pub(super) fn size_ranges(classes: &[(usize, SizeClass)], sets: Sets) -> PerLevel<SizeRange> {
    // Divides the classes into runs. The numbers of all classes of a run are equal except for their
    // low `shift` bits.
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
