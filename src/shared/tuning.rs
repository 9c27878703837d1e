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
