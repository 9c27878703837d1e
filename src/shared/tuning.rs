//! Tuning constants of the `measure` and `plan` stages, on the CPU and in the shaders.
//! `sample_size` has a twin in `shaders/load_params.wgsl`.

use super::size_class::SIZE_CLASSES;
use super::tag::MAX_LEVELS;

// Constants that determine the number of sampled spheres.

/// One in this many spheres is sampled, but at least [`MIN_SAMPLE`] spheres in all (fewer in a
/// small world, see [`SMALL_SAMPLE_DIVISOR`]) and at most [`MAX_SAMPLE`].
pub(crate) const SAMPLE_DIVISOR: usize = 512;
/// In a small world, one in this many spheres is sampled. A world is small if this gives fewer than
/// [`MIN_SAMPLE`] spheres.
pub(crate) const SMALL_SAMPLE_DIVISOR: usize = 16;
/// Largest number of spheres in a sample. The cost of examining all pairs of this many spheres is
/// negligible compared with the rest of the step.
pub(crate) const MAX_SAMPLE: usize = 2048;
/// Smallest number of spheres in the sample of a large world. They are enough to measure the
/// spacing within clusters of some thousands of spheres.
pub(crate) const MIN_SAMPLE: usize = 512;
/// Smallest number of spheres in the sample of a small world.
pub(crate) const MIN_SMALL_SAMPLE: usize = 128;
/// Multipliers of the hash that picks a sphere for the sample.
pub(crate) const SAMPLE_HASH: [u32; 2] = [0x9e37_79b1, 0x85eb_ca77];

/// Returns the number of spheres in the sample of a world of `spheres` spheres.
pub(crate) fn sample_size(spheres: usize) -> usize {
    let small = (spheres / SMALL_SAMPLE_DIVISOR).clamp(MIN_SMALL_SAMPLE, MIN_SAMPLE);
    let large = (spheres / SAMPLE_DIVISOR).clamp(small, MAX_SAMPLE);
    large.min(spheres)
}

// Constants for the measurements of the sample.

/// Number of octaves of distance by which pairs are counted: one for each exponent of a float32.
pub(crate) const OCTAVES: usize = 256;
/// Smallest number of ordered pairs of the sample within a distance for which the correlation curve
/// is measured at this distance. Fewer pairs would be a matter of chance, so below the smallest
/// such distance the curve is extrapolated.
pub(crate) const MIN_COUNTED_PAIRS: u32 = 64;
/// Rank, in order of distance, of the nearer one of two neighbours of a sampled sphere. The
/// distances to the neighbours with the ranks [`NEAR_RANK`] and [`FAR_RANK`] give the spacing of
/// the spheres.
pub(crate) const NEAR_RANK: u32 = 4;
/// Rank, in order of distance, of the farther one of two neighbours of a sampled sphere. See
/// [`NEAR_RANK`].
pub(crate) const FAR_RANK: u32 = 12;
/// The trimmed box leaves out one in this many spheres of the sample at each end of each
/// axis, so that outliers do not stretch it.
pub(crate) const TRIM_DIVISOR: usize = 64;
/// Fraction of its extent by which the trimmed box, which contains the sample without outliers, is
/// widened on each side.
pub(crate) const TRIM_MARGIN: f32 = 0.25;
/// Lower bound of the measured dimension of the region that the spheres fill. A line has dimension
/// 1, a sheet 2.
pub(crate) const MIN_DIMENSION: f32 = 1.5;
/// Upper bound of the measured dimension of the region that the spheres fill: the dimension of
/// space.
pub(crate) const MAX_DIMENSION: f32 = 3.0;
/// Smallest slope, per octave of distance, with which the correlation curve is extrapolated to
/// small distances.
pub(crate) const MIN_SLOPE: f32 = 1.0;
/// Value of the correlation curve where no pair has been measured. The curve is log₂ of the number
/// of other spheres around a sphere.
pub(crate) const LOG_OF_NONE: f32 = -64.0;

// Constants for the sizes of cells and time segments.

/// Smallest edge of a cell, as a fraction of the spacing of the proxies in the level. Smaller cells
/// would save tests, but they enlarge the slot table, and proxies of other levels would have more
/// cells to search.
pub(crate) const MIN_CELL_PER_SPACING: f32 = 0.625;
/// Number of lengths of time segments whose expected costs are compared. Each length is twice the
/// one before, except the last one, at which no sphere is cut.
pub(crate) const SEGMENT_LENGTHS: u32 = 26;
/// Smallest length of time segments, as a fraction of the world's extent.
pub(crate) const MIN_SEGMENT_PER_EXTENT: f32 = 1.0 / 65536.0;
/// Largest number of sampled spheres for which the costs of different segment lengths are computed.
pub(crate) const MAX_WEIGHED: usize = 256;

// Costs of searches, in units of one swept test, and numbers of ranges of sorted proxies that
// a search visits.

/// Cost of searching one range of sorted proxies within a level's box.
pub(crate) const SEARCH_COST: f32 = 4.0;
/// Cost of searching one range of sorted proxies outside a level's box. Such a range is found by a
/// hash and is therefore likely to be a cache miss.
pub(crate) const HASHED_SEARCH_COST: f32 = 8.0;
/// Number of ranges that a proxy searches in its own level, if they are within the level's box.
pub(crate) const OWN_RANGES: f32 = 5.0;
/// Number of ranges that a proxy searches in its own level, if they are outside the level's box.
pub(crate) const HASHED_OWN_RANGES: f32 = 14.0;
/// Number of ranges that a proxy searches in a coarser level, if they are within that level's box.
pub(crate) const COARSER_RANGES: f32 = 4.0;
/// Number of ranges that a proxy searches in a coarser level, if they are outside that level's box.
pub(crate) const HASHED_COARSER_RANGES: f32 = 8.0;

// Constants for the levels and their slots.

/// log₂ of the number of size classes in the longest possible size range. All size classes together
/// are at most [`MAX_LEVELS`] ranges of this length.
pub(crate) const MAX_RANGE_SHIFT: u32 = (SIZE_CLASSES / MAX_LEVELS).ilog2();
/// log₂ of the largest number of time slabs that a proxy searches in another level. With more
/// slabs, one invocation of a shader would be busy while all others wait.
pub(crate) const MAX_SLABS_POWER: u32 = 6;
/// Fraction of the slot table that is divided among the levels. The remaining slots absorb
/// rounding.
pub(crate) const USABLE_SLOTS: f32 = 0.999;
/// Smallest fraction of a level's slots that is reserved for the cells outside the level's box, if
/// some proxies lie there.
pub(crate) const MIN_HASHED_SHARE: f32 = 0.25;
/// Smallest number of slots that a level has for the cells outside its box.
pub(crate) const MIN_HASHED_SLOTS: u32 = 4;
/// Factor by which the edge of a level's cells grows, repeatedly, until the level has enough slots
/// for its cells.
pub(crate) const CELL_GROWTH: f32 = 1.125;
/// Largest number of cell edges that are tried for a level. Each is [`CELL_GROWTH`] times the one
/// before.
pub(crate) const CELL_GROWTH_STEPS: u32 = 64;

/// Number of cells that a proxy searches in its own level: half of the 26 neighbouring cells,
/// and its own cell.
pub(crate) const MAX_OWN_CELLS: f32 = 14.0;
/// Largest number of cells of a coarser level that are in reach of a proxy: 4 along each of the
/// three axes, so 4³ in all.
pub(crate) const MAX_COARSER_CELLS: f32 = 64.0;

/// Largest number of slots per proxy on the CPU. The CPU allocates its slot table after the plan
/// and only as large as the plan needs, so the limit is generous. With the smallest cells, a box
/// has about 1 / [`MIN_CELL_PER_SPACING`]³ ≈ 4 cells per proxy. In a world of clusters, it has
/// more.
pub(crate) const CPU_MAX_SLOTS_PER_PROXY: usize = 24;
/// Number of slots per proxy on a GPU, where the slot table is allocated for all steps, before
/// any plan is known. With the smallest cells, a box has about 1 / [`MIN_CELL_PER_SPACING`]³ ≈ 4
/// cells per proxy.
#[cfg(feature = "gpu")]
pub(crate) const GPU_SLOTS_PER_PROXY: u64 = 4;
