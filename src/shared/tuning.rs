//! Tuning constants of the `measure` and `plan` stages, on the CPU and in the shaders.
//! `sample_size` has a twin in `shaders/load_params.wgsl`.

use super::size_class::SIZE_CLASSES;
use super::tag::MAX_LEVELS;

// Size of the sample.

/// The sample holds one in this many spheres, but at least [`MIN_SAMPLE`] (in a small world,
/// see [`SMALL_SAMPLE_DIVISOR`]) and at most [`MAX_SAMPLE`].
pub(crate) const SAMPLE_DIVISOR: usize = 512;
/// In a small world, one in this many spheres is sampled. A world is small if this yields
/// fewer than [`MIN_SAMPLE`] spheres.
pub(crate) const SMALL_SAMPLE_DIVISOR: usize = 16;
/// Largest sample. The cost of examining all pairs of this many spheres is negligible
/// compared with the rest of the step.
pub(crate) const MAX_SAMPLE: usize = 2048;
/// Smallest sample of a large world: enough to measure the spacing within clusters of some
/// thousands of spheres.
pub(crate) const MIN_SAMPLE: usize = 512;
/// Smallest sample of a small world.
pub(crate) const MIN_SMALL_SAMPLE: usize = 128;
/// Multipliers of the hash that picks a sphere for the sample.
pub(crate) const SAMPLE_HASH: [u32; 2] = [0x9e37_79b1, 0x85eb_ca77];

/// Number of spheres in the sample of a world of `spheres` spheres.
pub(crate) fn sample_size(spheres: usize) -> usize {
    let small = (spheres / SMALL_SAMPLE_DIVISOR).clamp(MIN_SMALL_SAMPLE, MIN_SAMPLE);
    let large = (spheres / SAMPLE_DIVISOR).clamp(small, MAX_SAMPLE);
    large.min(spheres)
}

// Measurements of the sample.

/// Number of octaves of distance: one for each exponent of a float32.
pub(crate) const OCTAVES: usize = 256;
/// Smallest number of ordered pairs within a distance for which the correlation curve is measured
/// at this distance. Fewer pairs would be a matter of chance, so the curve is extrapolated to
/// smaller distances.
pub(crate) const MIN_COUNTED_PAIRS: u32 = 64;
/// Rank of the nearer of two neighbours in the sample. The spacing around a sphere is measured
/// by the distances to its neighbours of the ranks [`NEAR_RANK`] and [`FAR_RANK`].
pub(crate) const NEAR_RANK: u32 = 4;
/// Rank of the farther of these two neighbours. See [`NEAR_RANK`].
pub(crate) const FAR_RANK: u32 = 12;
/// The trimmed box leaves out one in this many spheres of the sample at each end of each
/// axis, so that outliers do not stretch it.
pub(crate) const TRIM_DIVISOR: usize = 64;
/// Fraction of its extent by which the trimmed box is then widened on each side.
pub(crate) const TRIM_MARGIN: f32 = 0.25;
/// Lower bound of the measured dimension of the region that the spheres fill: a line has
/// dimension 1, a sheet 2.
pub(crate) const MIN_DIMENSION: f32 = 1.5;
/// Upper bound of the measured dimension: that of space. See [`MIN_DIMENSION`].
pub(crate) const MAX_DIMENSION: f32 = 3.0;
/// Smallest slope with which the correlation curve is extrapolated.
pub(crate) const MIN_SLOPE: f32 = 1.0;
/// log₂ of the number of other spheres around a sphere, where no pair has been measured.
pub(crate) const LOG_OF_NONE: f32 = -64.0;

// Cells and time segments.

/// Smallest edge of a cell, as a fraction of the spacing of the proxies in the level. Smaller
/// cells would save tests, but they enlarge the slot table, and proxies of other levels have
/// more of them to search.
pub(crate) const MIN_CELL_PER_SPACING: f32 = 0.625;
/// Number of segment lengths whose costs are compared. Each is twice the one before, except
/// the last, with which no sphere is cut.
pub(crate) const SEGMENT_LENGTHS: u32 = 26;
/// Smallest segment length, as a fraction of the world's extent.
pub(crate) const MIN_SEGMENT_PER_EXTENT: f32 = 1.0 / 65536.0;
/// Largest number of sampled spheres by which the segment lengths are compared.
pub(crate) const MAX_WEIGHED: usize = 256;

// Costs of searches, in units of one swept test, and numbers of ranges of sorted proxies that
// a search visits.

/// Cost of searching one range of proxies within a box.
pub(crate) const SEARCH_COST: f32 = 4.0;
/// Cost of searching one range outside the box, which is found by its hash and is therefore
/// likely to be a cache miss.
pub(crate) const HASHED_SEARCH_COST: f32 = 8.0;
/// Number of ranges that a proxy searches in its own level, within the box.
pub(crate) const OWN_RANGES: f32 = 5.0;
/// Number of ranges that a proxy searches in its own level, outside the box.
pub(crate) const HASHED_OWN_RANGES: f32 = 14.0;
/// Number of ranges that a proxy searches in a coarser level, within the box.
pub(crate) const COARSER_RANGES: f32 = 4.0;
/// Number of ranges that a proxy searches in a coarser level, outside the box.
pub(crate) const HASHED_COARSER_RANGES: f32 = 8.0;

// Levels and their slots.

/// log₂ of the number of size classes in the longest size ranges from which the plan starts.
/// Ranges of this length are never more than [`MAX_LEVELS`].
pub(crate) const MAX_RANGE_SHIFT: u32 = (SIZE_CLASSES / MAX_LEVELS).ilog2();
/// log₂ of the largest number of time slabs that a proxy searches in another level. With more
/// slabs, one invocation of a shader would be busy while all others wait.
pub(crate) const MAX_SLABS_POWER: u32 = 6;
/// Fraction of the slot table that is divided among the levels. The rest absorbs rounding.
pub(crate) const USABLE_SLOTS: f32 = 0.999;
/// Smallest fraction of a level's slots that is reserved for hashed cells, if some proxies lie
/// outside the level's box.
pub(crate) const MIN_HASHED_SHARE: f32 = 0.25;
/// Smallest number of slots that a level has for the cells outside its box.
pub(crate) const MIN_HASHED_SLOTS: u32 = 4;
/// Factor by which the edge of the cells grows, repeatedly, until the slots are enough.
pub(crate) const CELL_GROWTH: f32 = 1.125;
/// Number of cell edges that are tried. Each is [`CELL_GROWTH`] times the one before.
pub(crate) const CELL_GROWTH_STEPS: u32 = 64;

/// Number of cells that a proxy searches in its own level: half of the 26 neighbouring cells,
/// and its own cell.
pub(crate) const MAX_OWN_CELLS: f32 = 14.0;
/// Largest number of cells of a coarser level that are in reach of a proxy: 4 along each axis.
pub(crate) const MAX_COARSER_CELLS: f32 = 64.0;

/// Largest number of slots per proxy on the CPU. The CPU allocates its slot table after the
/// plan and only as large as the plan needs, so the limit is generous. With the smallest cells,
/// a box has about 1 / [`MIN_CELL_PER_SPACING`]³ ≈ 4 cells per proxy; a world of clusters has
/// more.
pub(crate) const CPU_MAX_SLOTS_PER_PROXY: usize = 24;
/// Number of slots per proxy on a GPU, where the slot table is allocated for all steps, before
/// any plan is known. With the smallest cells, a box has about 1 / [`MIN_CELL_PER_SPACING`]³ ≈ 4
/// cells per proxy.
#[cfg(feature = "gpu")]
pub(crate) const GPU_SLOTS_PER_PROXY: u64 = 4;
