//! The numbers that `measure` and `plan` go by, on the CPU and in the shaders. `sample_size` has
//! a twin in `shaders/load_params.wgsl`.

use super::size_class::SIZE_CLASSES;
use super::tag::MAX_LEVELS;

// The sample: the spheres that stand for all.

/// A sample has one of so many spheres, within [`MIN_SAMPLE`] and [`MAX_SAMPLE`].
pub(crate) const SAMPLE_DIVISOR: usize = 512;
/// A small world's sample, of fewer than [`MIN_SAMPLE`] spheres, has one of so many.
pub(crate) const SMALL_SAMPLE_DIVISOR: usize = 16;
/// Largest sample: the pairs within it cost nothing beside the rest of the step.
pub(crate) const MAX_SAMPLE: usize = 2048;
/// Smallest sample of a large world: enough to measure the spacing within clusters of some
/// thousands of spheres.
pub(crate) const MIN_SAMPLE: usize = 512;
/// Smallest sample of a small world.
pub(crate) const MIN_SMALL_SAMPLE: usize = 128;
/// Multipliers of the hash that picks a sphere for the sample.
pub(crate) const SAMPLE_HASH: [u32; 2] = [0x9e37_79b1, 0x85eb_ca77];

/// The number of spheres in the sample of a world of `spheres`.
pub(crate) fn sample_size(spheres: usize) -> usize {
    let small = (spheres / SMALL_SAMPLE_DIVISOR).clamp(MIN_SMALL_SAMPLE, MIN_SAMPLE);
    let large = (spheres / SAMPLE_DIVISOR).clamp(small, MAX_SAMPLE);
    large.min(spheres)
}

// What the sample tells.

/// Octaves of distance, by the exponent of a float32.
pub(crate) const OCTAVES: usize = 256;
/// Ordered pairs within a distance below which the correlation curve is extrapolated:
/// fewer are a matter of chance.
pub(crate) const MIN_COUNTED_PAIRS: u32 = 64;
/// The spacing around a sphere is measured by the distances to its nearest neighbours of
/// these two ranks in the sample.
pub(crate) const NEAR_RANK: u32 = 4;
/// See [`NEAR_RANK`].
pub(crate) const FAR_RANK: u32 = 12;
/// The trimmed box leaves out one of so many spheres of the sample on each side of each
/// axis, so that strays do not stretch it.
pub(crate) const TRIM_DIVISOR: usize = 64;
/// The trimmed box is then widened on each side by this part of its extent.
pub(crate) const TRIM_MARGIN: f32 = 0.25;
/// Bounds of the dimension that the spheres fill: a line or less, and space.
pub(crate) const MIN_DIMENSION: f32 = 1.5;
/// See [`MIN_DIMENSION`].
pub(crate) const MAX_DIMENSION: f32 = 3.0;
/// Least slope of the correlation curve where it is extrapolated.
pub(crate) const MIN_SLOPE: f32 = 1.0;
/// log₂ of the number of others around a sphere of which nothing is known.
pub(crate) const LOG_OF_NONE: f32 = -64.0;

// Cells and time segments.

/// Narrowest cells, as a part of the spacing of the proxies in them: narrower ones would
/// save tests, but make the slot table larger, and others search more of them.
pub(crate) const MIN_CELL_PER_SPACING: f32 = 0.625;
/// Lengths of segments that are weighed against each other, an octave apart.
pub(crate) const SEGMENT_LENGTHS: u32 = 26;
/// Shortest segments, as a part of the world's extent.
pub(crate) const MIN_SEGMENT_PER_EXTENT: f32 = 1.0 / 65536.0;
/// Spheres of the sample by which the lengths of segments are weighed, at most.
pub(crate) const MAX_WEIGHED: usize = 256;

// Costs, in swept tests, and how many ranges of sorted proxies a search visits.

/// Cost of searching one range of proxies within a box.
pub(crate) const SEARCH_COST: f32 = 4.0;
/// Cost of searching one range found by its hash: likely a cache miss.
pub(crate) const HASHED_SEARCH_COST: f32 = 8.0;
/// Ranges that a proxy searches in its own level, within the box.
pub(crate) const OWN_RANGES: f32 = 5.0;
/// Ranges that a proxy searches in its own level, outside the box.
pub(crate) const HASHED_OWN_RANGES: f32 = 14.0;
/// Ranges that a proxy searches in a coarser level, within the box.
pub(crate) const COARSER_RANGES: f32 = 4.0;
/// Ranges that a proxy searches in a coarser level, outside the box.
pub(crate) const HASHED_COARSER_RANGES: f32 = 8.0;

// Levels and their slots.

/// The longest runs of size classes that the plan starts from have 2^this of them: no more
/// runs than there can be levels.
pub(crate) const MAX_RANGE_SHIFT: u32 = (SIZE_CLASSES / MAX_LEVELS).ilog2();
/// A proxy searches at most 2^this time slabs of a level: more would keep one invocation of
/// a shader busy while all others wait.
pub(crate) const MAX_SLABS_POWER: u32 = 6;
/// The part of the slot table that the levels share out: the rest is for rounding.
pub(crate) const USABLE_SLOTS: f32 = 0.999;
/// The least part of a level's slots that is hashed, where its box leaves some proxies out.
pub(crate) const MIN_HASHED_SHARE: f32 = 0.25;
/// Least number of slots that a level has outside its box.
pub(crate) const MIN_HASHED_SLOTS: u32 = 4;
/// Cells that need more slots than there are grow by this factor, again and again.
pub(crate) const CELL_GROWTH: f32 = 1.125;
/// Edges of cells that are tried, each [`CELL_GROWTH`] times the one before.
pub(crate) const CELL_GROWTH_STEPS: u32 = 64;

/// Cells of half a neighbourhood, and one more.
pub(crate) const MAX_OWN_CELLS: f32 = 14.0;
/// Cells of a coarser level that a proxy can reach: 4 along each axis.
pub(crate) const MAX_COARSER_CELLS: f32 = 64.0;

/// Slots per proxy at most, on the CPU. Its table is allocated after the plan and only as
/// large as the plan needs, so the limit is generous: a box of the narrowest cells has about
/// 1 / [`MIN_CELL_PER_SPACING`]³ for each proxy, which is 4, and a world of clusters more.
pub(crate) const CPU_MAX_SLOTS_PER_PROXY: usize = 24;
/// Slots per proxy on a GPU. Its table is allocated before the plan is known, for all steps
/// to come. A box of the narrowest cells has about 1 / [`MIN_CELL_PER_SPACING`]³ for each proxy,
/// which is 4.
#[cfg(feature = "gpu")]
pub(crate) const GPU_SLOTS_PER_PROXY: u64 = 4;
