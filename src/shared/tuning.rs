//! Tuning constants for the stages `measure` and `plan` of the CPU and of the shaders.
//! `sample_size` has a twin in `shaders/shared/step_params.wgsl`.

use super::size_class::SIZE_CLASSES;
use super::tag::MAX_LEVELS;

/// In a large world, one sphere out of this many is sampled, within [`MIN_SAMPLE`] and
/// [`MAX_SAMPLE`].
pub(crate) const SAMPLE_DIVISOR: usize = 512;
/// In a small world, one sphere out of this many is sampled, within [`MIN_SMALL_SAMPLE`] and
/// [`MIN_SAMPLE`].
pub(crate) const SMALL_SAMPLE_DIVISOR: usize = 16;
/// Examining all their pairs takes a negligible part of a step.
pub(crate) const MAX_SAMPLE: usize = 2048;
/// Enough to measure the spacing within clusters of some thousands of spheres.
pub(crate) const MIN_SAMPLE: usize = 512;
pub(crate) const MIN_SMALL_SAMPLE: usize = 128;
pub(crate) const SAMPLE_HASH: [u32; 2] = [0x9e37_79b1, 0x85eb_ca77];

pub(crate) fn sample_size(spheres: usize) -> usize {
    let small = (spheres / SMALL_SAMPLE_DIVISOR).clamp(MIN_SMALL_SAMPLE, MIN_SAMPLE);
    let large = (spheres / SAMPLE_DIVISOR).clamp(small, MAX_SAMPLE);
    large.min(spheres)
}

/// One for each exponent of a float32.
pub(crate) const OCTAVES: usize = 256;
/// With fewer pairs within a distance, chance would dominate, so their number is extrapolated
/// from larger distances.
pub(crate) const MIN_COUNTED_PAIRS: u32 = 64;
/// The ranks of the two neighbours from which the spacing is estimated.
pub(crate) const NEAR_RANK: u32 = 4;
pub(crate) const FAR_RANK: u32 = 12;
/// The trimmed box leaves out one in this many at either end of each axis.
pub(crate) const TRIM_DIVISOR: usize = 64;
pub(crate) const TRIM_MARGIN: f32 = 0.25;
/// 1 for a line, 2 for a sheet.
pub(crate) const MIN_DIMENSION: f32 = 1.5;
pub(crate) const MAX_DIMENSION: f32 = 3.0;
/// For the power law that extrapolates the number of neighbours to smaller distances.
pub(crate) const MIN_SLOPE: f32 = 1.0;
/// Stands for log₂ of 0 in the correlation curve.
pub(crate) const LOG_OF_NONE: f32 = -64.0;

/// As a fraction of the spacing. Smaller cells would need fewer tests, but more slots and more
/// searches from other levels.
pub(crate) const MIN_CELL_PER_SPACING: f32 = 0.625;
/// Each is twice as long as the one before, except for the last, with which no path is cut.
pub(crate) const SEGMENT_LENGTHS: u32 = 26;
pub(crate) const MIN_SEGMENT_PER_EXTENT: f32 = 1.0 / 65536.0;
pub(crate) const MAX_WEIGHED: usize = 256;

/// The unit is the cost of testing a pair.
pub(crate) const SEARCH_COST: f32 = 4.0;
/// Likely a cache miss.
pub(crate) const HASHED_SEARCH_COST: f32 = 8.0;
/// Of the sorted proxies, each of adjacent cells.
pub(crate) const OWN_RANGES: f32 = 5.0;
pub(crate) const HASHED_OWN_RANGES: f32 = 14.0;
/// Assumed, in a level with larger cells.
pub(crate) const COARSER_RANGES: f32 = 4.0;
pub(crate) const HASHED_COARSER_RANGES: f32 = 8.0;

/// If all size classes are in use.
pub(crate) const MAX_RANGE_SHIFT: u32 = (SIZE_CLASSES / MAX_LEVELS).ilog2();
/// On a GPU, the other invocations of a subgroup wait for the longest search.
#[cfg(feature = "gpu")]
pub(crate) const MAX_FINER_ROWS: f32 = 100.0;
#[cfg(feature = "gpu")]
pub(crate) const MAX_FINER_MET: f32 = 200.0;
/// On a GPU, an invocation that searched more slabs would delay all others.
pub(crate) const MAX_SLABS_POWER: u32 = 6;
/// The rest covers rounding errors.
pub(crate) const USABLE_SLOTS: f32 = 0.999;
/// The smallest fraction of a level's slots for the cells outside its box, if a few proxies are
/// there.
pub(crate) const MIN_HASHED_SHARE: f32 = 0.25;
pub(crate) const MIN_HASHED_SLOTS: u32 = 4;
/// Repeated until each cell in the box can have its own slot.
pub(crate) const CELL_GROWTH: f32 = 1.0625;
pub(crate) const CELL_GROWTH_STEPS: u32 = 128;

/// Its own cell, and half of the 26 around it, because each pair is searched from one side only.
pub(crate) const MAX_OWN_CELLS: f32 = 14.0;
pub(crate) const MAX_COARSER_CELLS: f32 = 64.0;

/// On the CPU, which allocates only those that the levels need: about 4 per proxy, and more in
/// clusters.
pub(crate) const CPU_MAX_SLOTS_PER_PROXY: usize = 24;
/// On a GPU, where they are allocated before the levels are chosen: about the usual need.
#[cfg(feature = "gpu")]
pub(crate) const GPU_SLOTS_PER_PROXY: u64 = 4;
