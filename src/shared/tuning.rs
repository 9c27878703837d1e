//! Tuning constants for two stages of the CPU and of the shaders: `measure` examines a sample of
//! the spheres, and `plan` chooses the grids. `sample_size` has a twin in
//! `shaders/shared/step_params.wgsl`.

use super::size_class::SIZE_CLASSES;
use super::tag::MAX_LEVELS;

/// In a large world, one sphere out of this many is sampled. The sample has at least [`MIN_SAMPLE`]
/// and at most [`MAX_SAMPLE`] spheres.
pub(crate) const SAMPLE_DIVISOR: usize = 512;
/// In a small world, one sphere out of this many is sampled. The sample has at least [`MIN_SMALL_SAMPLE`] and
/// at most [`MIN_SAMPLE`] spheres. A world is small if it has fewer than [`SAMPLE_DIVISOR`] times
/// [`MIN_SAMPLE`] spheres.
pub(crate) const SMALL_SAMPLE_DIVISOR: usize = 16;
/// Largest number of sampled spheres. Examining all pairs of so many spheres takes a negligible
/// part of a step.
pub(crate) const MAX_SAMPLE: usize = 2048;
/// Smallest number of sampled spheres in a large world: enough to measure the spacing within
/// clusters of some thousands of spheres.
pub(crate) const MIN_SAMPLE: usize = 512;
pub(crate) const MIN_SMALL_SAMPLE: usize = 128;
pub(crate) const SAMPLE_HASH: [u32; 2] = [0x9e37_79b1, 0x85eb_ca77];

pub(crate) fn sample_size(spheres: usize) -> usize {
    let small = (spheres / SMALL_SAMPLE_DIVISOR).clamp(MIN_SMALL_SAMPLE, MIN_SAMPLE);
    let large = (spheres / SAMPLE_DIVISOR).clamp(small, MAX_SAMPLE);
    large.min(spheres)
}

/// Number of ranges of distance in which pairs of sampled spheres are counted. Each is an octave
/// (factor of 2), and belongs to one exponent of a float32.
pub(crate) const OCTAVES: usize = 256;
/// If at least this many pairs of sampled spheres are within a distance, the number of neighbours
/// within this distance is estimated from these pairs. With fewer pairs, chance would dominate, so
/// the number of neighbours is extrapolated from larger distances.
pub(crate) const MIN_COUNTED_PAIRS: u32 = 64;
/// The spacing of the spheres is estimated from the distances of each sphere to two of its
/// neighbours. These two constants are the ranks of the neighbours, in order of distance.
pub(crate) const NEAR_RANK: u32 = 4;
pub(crate) const FAR_RANK: u32 = 12;
/// The box around the sampled spheres leaves out the outliers along each axis: one in this many of
/// the sampled spheres at the lower end, and as many at the upper end.
pub(crate) const TRIM_DIVISOR: usize = 64;
pub(crate) const TRIM_MARGIN: f32 = 0.25;
/// Smallest assumed dimension of the region that the spheres fill (1 for a line, 2 for a sheet).
pub(crate) const MIN_DIMENSION: f32 = 1.5;
pub(crate) const MAX_DIMENSION: f32 = 3.0;
/// Lower limit for the exponent of a power law. By this law, carom extrapolates the number of
/// neighbours within a distance to smaller distances.
pub(crate) const MIN_SLOPE: f32 = 1.0;
/// Stands for log₂ of 0 in the correlation curve, which has log₂ of the mean number of neighbours
/// within each distance.
pub(crate) const LOG_OF_NONE: f32 = -64.0;

/// Smallest edge of a cell, as a fraction of the spacing of the spheres (or time segments) in the
/// grid. Smaller cells would need fewer tests, but more table entries and more searches from other
/// grids.
pub(crate) const MIN_CELL_PER_SPACING: f32 = 0.625;
/// Number of candidates for the length of time segments, of which the one with the least expected
/// cost is chosen. Each candidate is twice as long as the previous one, except for the last. With
/// the last candidate, no path is cut.
pub(crate) const SEGMENT_LENGTHS: u32 = 26;
pub(crate) const MIN_SEGMENT_PER_EXTENT: f32 = 1.0 / 65536.0;
/// Largest number of sampled paths from which the expected cost of each candidate length of time
/// segments is computed.
pub(crate) const MAX_WEIGHED: usize = 256;

/// Cost of one search for neighbours, which reads the contents of adjacent cells. The unit is the
/// cost of testing a pair of spheres.
pub(crate) const SEARCH_COST: f32 = 4.0;
/// Cost of a search that finds a cell by a hash, which is likely a cache miss. The unit is the cost
/// of testing a pair of spheres.
pub(crate) const HASHED_SEARCH_COST: f32 = 8.0;
/// Number of ranges of the sorted spheres that a sphere searches in its own grid. Each range has
/// the spheres of adjacent cells.
pub(crate) const OWN_RANGES: f32 = 5.0;
pub(crate) const HASHED_OWN_RANGES: f32 = 14.0;
/// Assumed number of ranges of the sorted spheres that a sphere searches in a grid with larger
/// cells than its own grid. Each range has the spheres of adjacent cells.
pub(crate) const COARSER_RANGES: f32 = 4.0;
pub(crate) const HASHED_COARSER_RANGES: f32 = 8.0;

/// log₂ of the number of neighbouring size classes that share a grid if all size classes are in
/// use. There are at most [`MAX_LEVELS`] grids.
pub(crate) const MAX_RANGE_SHIFT: u32 = (SIZE_CLASSES / MAX_LEVELS).ilog2();
/// On a GPU, a sphere searches a grid with smaller cells only if it has to visit at most this number of rows
/// of cells. The reason for the limit is that the other invocations of a subgroup wait for the longest
/// search.
#[cfg(feature = "gpu")]
pub(crate) const MAX_FINER_ROWS: f32 = 100.0;
/// On a GPU, a sphere searches a grid with smaller cells than its own only if the search is
/// expected to meet at most this number of spheres.
#[cfg(feature = "gpu")]
pub(crate) const MAX_FINER_MET: f32 = 200.0;
/// log₂ of the largest number of time slabs that one time segment searches in another grid. Time
/// slabs are equal parts of the step with separate cells. On a GPU, a shader invocation that
/// searched more slabs would delay all others.
pub(crate) const MAX_SLABS_POWER: u32 = 6;
/// The fraction of the table of cells that is divided among the grids. The rest covers rounding
/// errors in the sizes of their parts.
pub(crate) const USABLE_SLOTS: f32 = 0.999;
/// If the box of a grid contains most of its spheres but not all, each cell inside the box has its
/// own table entry, and the cells outside share the grid's other entries by a hash. This constant
/// is the smallest fraction of the grid's entries for the cells outside.
pub(crate) const MIN_HASHED_SHARE: f32 = 0.25;
/// Least number of table entries for the cells of a grid that share their entries by a hash.
pub(crate) const MIN_HASHED_SLOTS: u32 = 4;
/// Factor by which the edge of a grid's cells is enlarged, repeatedly, until there are few enough
/// cells in the grid's box that each can have its own table entry.
pub(crate) const CELL_GROWTH: f32 = 1.0625;
pub(crate) const CELL_GROWTH_STEPS: u32 = 128;

/// Number of cells that a sphere searches in its own grid: its own cell, and half of the 26 cells
/// around it because each pair is searched from one side only.
pub(crate) const MAX_OWN_CELLS: f32 = 14.0;
pub(crate) const MAX_COARSER_CELLS: f32 = 64.0;

/// Largest number of table entries per sphere or time segment on the CPU. The CPU allocates only
/// the entries that the chosen grids need. These are usually about 4 entries (1 /
/// [`MIN_CELL_PER_SPACING`]³) per sphere or time segment, and more if the spheres form clusters.
pub(crate) const CPU_MAX_SLOTS_PER_PROXY: usize = 24;
/// Number of table entries per sphere or time segment on a GPU, where the table is allocated before
/// the grids are chosen. It is about the usual need of the grids: 1 / [`MIN_CELL_PER_SPACING`]³
/// entries per sphere or time segment.
#[cfg(feature = "gpu")]
pub(crate) const GPU_SLOTS_PER_PROXY: u64 = 4;
