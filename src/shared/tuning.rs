//! Numbers that `measure` and `plan` go by, on the CPU and in the shaders.

use super::size_class::BINS;
use super::tag::MAX_LEVELS;

/// Spheres that stand for all: of n, n/512, but no more than 2048, so that all their
/// pairs are nothing beside the rest; and no fewer than 512, enough to tell the spacing
/// within clusters of some thousands, or than n/16 in a small world, and 128.
pub(crate) const SPHERES_A_SAMPLE: [usize; 2] = [512, 16];
pub(crate) const MOST_SAMPLED: usize = 2048;
pub(crate) const FEWEST_SAMPLED: [usize; 2] = [512, 128];
/// Octaves of distance, by the exponent of a float32.
pub(crate) const OCTAVES: usize = 256;
/// Fewer ordered pairs than this within a distance tell nothing: what is below
/// is extrapolated.
pub(crate) const ENOUGH: u32 = 64;
/// The spacing around a sphere is told from the distances to this nearest and
/// to that nearest of the sample.
pub(crate) const NEAREST: [u32; 2] = [4, 12];
/// This part of the sample is left out on each side of each axis, so that
/// strays do not stretch the box.
pub(crate) const TRIM: usize = 64;

/// Cells are not narrower than this part of the spacing of what is in them: that would
/// save tests, but make the table larger, and others look into more of them.
pub(crate) const FINEST: f32 = 0.625;

/// Lengths of segments that are weighed against each other, an octave apart.
pub(crate) const LENGTHS: u32 = 26;
/// Segments are not made shorter than this part of the world.
pub(crate) const SHORTEST: f32 = 1.0 / 65536.0;
/// How many of those that would be cut, in the sample, they are weighed by.
pub(crate) const WEIGHED: usize = 256;

/// How many spheres stand for all.
pub(crate) fn sample_size(spheres: usize) -> usize {
    let few = (spheres / SPHERES_A_SAMPLE[1]).clamp(FEWEST_SAMPLED[1], FEWEST_SAMPLED[0]);
    let some = (spheres / SPHERES_A_SAMPLE[0]).clamp(few, MOST_SAMPLED);
    some.min(spheres)
}

/// Cost of a range of proxies that is looked up in a box, in swept tests.
pub(crate) const LOOK: f32 = 4.0;
/// Cost of a range that is looked up by its hash: likely a cache miss.
pub(crate) const LOOK_HASHED: f32 = 8.0;
/// Ranges in the own level, in a box and hashed.
pub(crate) const OWN_RANGES: [f32; 2] = [5.0, 14.0];
/// Ranges in a coarser level, in a box and hashed.
pub(crate) const COARSER_RANGES: [f32; 2] = [4.0, 8.0];
/// Slots that each level has outside its box at least.
pub(crate) const FEWEST_HASHED: u32 = 4;

/// A proxy looks into at most 2^this time slabs of a level: more would keep one
/// invocation of a shader busy while all others wait.
pub(crate) const MOST_SLABS: u32 = 6;

/// Bins in as many groups as there can be levels, as a power of two.
pub(crate) const LAST_SHIFT: u32 = (BINS / MAX_LEVELS).ilog2();

/// Multipliers of the hash that picks a sphere for the sample.
pub(crate) const SAMPLE_HASH: [u32; 2] = [0x9e37_79b1, 0x85eb_ca77];
pub(crate) const TRIM_MARGIN: f32 = 0.25;
pub(crate) const MIN_DIMENSION: f32 = 1.5;
pub(crate) const MAX_DIMENSION: f32 = 3.0;
pub(crate) const MIN_SLOPE: f32 = 1.0;
pub(crate) const LOG_OF_NONE: f32 = -64.0;
pub(crate) const USABLE_SLOTS: f32 = 0.999;
pub(crate) const MIN_HASHED_SHARE: f32 = 0.25;
pub(crate) const CELL_GROWTH: f32 = 1.125;
pub(crate) const CELL_GROWTH_STEPS: u32 = 64;
pub(crate) const SAMPLE_DIVISOR: usize = SPHERES_A_SAMPLE[0];
pub(crate) const SMALL_SAMPLE_DIVISOR: usize = SPHERES_A_SAMPLE[1];
pub(crate) const MAX_SAMPLE: usize = MOST_SAMPLED;
pub(crate) const MIN_SAMPLE: usize = FEWEST_SAMPLED[0];
pub(crate) const MIN_SMALL_SAMPLE: usize = FEWEST_SAMPLED[1];
pub(crate) const MIN_COUNTED_PAIRS: u32 = ENOUGH;
pub(crate) const NEAR_RANK: u32 = NEAREST[0];
pub(crate) const FAR_RANK: u32 = NEAREST[1];
pub(crate) const TRIM_DIVISOR: usize = TRIM;
pub(crate) const MIN_CELL_PER_SPACING: f32 = FINEST;
pub(crate) const SEGMENT_LENGTHS: u32 = LENGTHS;
pub(crate) const MIN_SEGMENT_PER_EXTENT: f32 = SHORTEST;
pub(crate) const MAX_WEIGHED: usize = WEIGHED;
pub(crate) const SEARCH_COST: f32 = LOOK;
pub(crate) const HASHED_SEARCH_COST: f32 = LOOK_HASHED;
pub(crate) const HASHED_OWN_RANGES: f32 = OWN_RANGES[1];
pub(crate) const HASHED_COARSER_RANGES: f32 = COARSER_RANGES[1];
pub(crate) const MAX_RANGE_SHIFT: u32 = LAST_SHIFT;
pub(crate) const MAX_SLABS_POWER: u32 = MOST_SLABS;
pub(crate) const MIN_HASHED_SLOTS: u32 = FEWEST_HASHED;
pub(crate) const GPU_SLOTS_PER_PROXY: u64 = 4;
