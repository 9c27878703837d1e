//! Tuning constants for the stages `measure` and `plan` of the CPU and of the shaders.
//! `sample_size` has a twin in `shaders/shared/step_params.wgsl`.

use super::size_class::SIZE_CLASSES;
use super::tag::MAX_LEVELS;

/// In a large world, one sphere out of this many is sampled, but at least [`MIN_SAMPLE`] and at
/// most [`MAX_SAMPLE`] spheres.
pub(crate) const SAMPLE_DIVISOR: usize = 512;
/// In a small world, with fewer than [`SAMPLE_DIVISOR`] times [`MIN_SAMPLE`] spheres, one sphere
/// out of this many is sampled, but at least [`MIN_SMALL_SAMPLE`] and at most [`MIN_SAMPLE`]
/// spheres.
pub(crate) const SMALL_SAMPLE_DIVISOR: usize = 16;
/// Examining all pairs of so many spheres takes a negligible part of a step.
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

/// Number of octaves of distance in which pairs of the sample are counted. Each belongs to one
/// exponent of a float32.
pub(crate) const OCTAVES: usize = 256;
/// If at least this many pairs of the sample are within a distance, the number of neighbours within
/// it is estimated from these pairs. With fewer pairs, chance would dominate, so it is extrapolated
/// from larger distances.
pub(crate) const MIN_COUNTED_PAIRS: u32 = 64;
/// The spacing is estimated from the distances of each sphere to two of its neighbours, of these
/// ranks by distance.
pub(crate) const NEAR_RANK: u32 = 4;
pub(crate) const FAR_RANK: u32 = 12;
/// The trimmed box leaves out one in this many of the sampled spheres at either end of each axis.
pub(crate) const TRIM_DIVISOR: usize = 64;
pub(crate) const TRIM_MARGIN: f32 = 0.25;
/// Smallest assumed dimension of the region that the spheres fill (1 for a line, 2 for a sheet).
pub(crate) const MIN_DIMENSION: f32 = 1.5;
pub(crate) const MAX_DIMENSION: f32 = 3.0;
/// Lower limit for the exponent of the power law by which carom extrapolates the number of
/// neighbours to smaller distances.
pub(crate) const MIN_SLOPE: f32 = 1.0;
/// Stands for log₂ of 0 in the correlation curve.
pub(crate) const LOG_OF_NONE: f32 = -64.0;

/// Smallest edge of a cell, as a fraction of the spacing. Smaller cells would need fewer tests, but
/// more slots and more searches from other levels.
pub(crate) const MIN_CELL_PER_SPACING: f32 = 0.625;
/// Number of candidates for the length of segments. Each is twice as long as the previous one,
/// except for the last, with which no path is cut.
pub(crate) const SEGMENT_LENGTHS: u32 = 26;
pub(crate) const MIN_SEGMENT_PER_EXTENT: f32 = 1.0 / 65536.0;
/// Largest number of sampled paths from which the expected cost of each candidate length is
/// computed.
pub(crate) const MAX_WEIGHED: usize = 256;

/// Cost of one search, which reads the contents of adjacent cells. The unit is the cost of testing
/// a pair of spheres, here and in the next constant.
pub(crate) const SEARCH_COST: f32 = 4.0;
/// Cost of a search that finds a cell by a hash, which is likely a cache miss.
pub(crate) const HASHED_SEARCH_COST: f32 = 8.0;
/// Number of ranges of the sorted proxies, each of adjacent cells, that a proxy searches in its own
/// level.
pub(crate) const OWN_RANGES: f32 = 5.0;
pub(crate) const HASHED_OWN_RANGES: f32 = 14.0;
/// Assumed number of these ranges in a level with larger cells than its own.
pub(crate) const COARSER_RANGES: f32 = 4.0;
pub(crate) const HASHED_COARSER_RANGES: f32 = 8.0;

/// log₂ of the number of neighbouring size classes that share a level if all size classes are in
/// use.
pub(crate) const MAX_RANGE_SHIFT: u32 = (SIZE_CLASSES / MAX_LEVELS).ilog2();
/// On a GPU, a proxy searches a level with smaller cells only if it has to visit at most this
/// number of rows of cells: the other invocations of a subgroup wait for the longest search.
#[cfg(feature = "gpu")]
pub(crate) const MAX_FINER_ROWS: f32 = 100.0;
/// Likewise, the largest expected number of proxies that such a search meets.
#[cfg(feature = "gpu")]
pub(crate) const MAX_FINER_MET: f32 = 200.0;
/// log₂ of the largest number of time slabs that one segment searches in another level. On a GPU,
/// an invocation that searched more slabs would delay all others.
pub(crate) const MAX_SLABS_POWER: u32 = 6;
/// The fraction of the slots that is divided among the levels. The rest covers rounding errors in
/// the sizes of their parts.
pub(crate) const USABLE_SLOTS: f32 = 0.999;
/// If the box of a level contains most of its proxies but not all: the smallest fraction of the
/// level's slots for the cells outside, which share them by a hash.
pub(crate) const MIN_HASHED_SHARE: f32 = 0.25;
/// Least number of slots for the cells of a level outside its box.
pub(crate) const MIN_HASHED_SLOTS: u32 = 4;
/// Factor by which the edge of a level's cells is enlarged, repeatedly, until each cell in the box
/// can have its own slot.
pub(crate) const CELL_GROWTH: f32 = 1.0625;
pub(crate) const CELL_GROWTH_STEPS: u32 = 128;

/// Number of cells that a proxy searches in its own level: its own cell, and half of the 26 cells
/// around it, because each pair is searched from one side only.
pub(crate) const MAX_OWN_CELLS: f32 = 14.0;
pub(crate) const MAX_COARSER_CELLS: f32 = 64.0;

/// Largest number of slots per proxy on the CPU, which allocates only those that the levels need:
/// usually about 4 per proxy (1 / [`MIN_CELL_PER_SPACING`]³), and more if the spheres form
/// clusters.
pub(crate) const CPU_MAX_SLOTS_PER_PROXY: usize = 24;
/// Number of slots per proxy on a GPU, where they are allocated before the levels are chosen: about
/// the usual need.
#[cfg(feature = "gpu")]
pub(crate) const GPU_SLOTS_PER_PROXY: u64 = 4;
