//! Size classes of spheres. All spheres of a class are cut into the same number of time segments.
//! The segments in a class differ in size by a factor below 1.5. In a step of two sets, which pairs
//! spheres of one set with spheres of the other, each class has spheres of one set only. Twin of
//! `shaders/shared/size_class.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "the number of a size class has few bits"
)]

use super::tag::{POWER_BITS, POWERS};

/// Smallest edge of a grid cell. It is large enough that its reciprocal does not overflow float32.
/// It is also much larger than the subnormal numbers, so it does not matter if a GPU flushes
/// subnormal coordinates to zero.
pub(crate) const SMALLEST_CELL: f32 = 1.0 / (1_u64 << 60) as f32;

/// Number of size classes. For each set and each number of time segments per sphere, there are two
/// classes per octave of size, starting at half of [`SMALLEST_CELL`].
pub(crate) const SIZE_CLASSES: usize = 2 << (POWER_BITS + SIZE_BITS);
/// Number of low bits of a size class. These bits hold the size of a sphere or time segment, with
/// two steps in each octave (factor of 2). The next [`POWER_BITS`] bits hold log₂ of the number of
/// segments. The bit above them tells to which of two sets the sphere belongs.
pub(crate) const SIZE_BITS: u32 = 8;
pub(crate) const SIZE_SHIFT: u32 = 22;
pub(crate) const FIRST_SIZE: u32 = (SMALLEST_CELL * 0.5).to_bits() >> SIZE_SHIFT;

/// Bit that is stored with the size class of a sphere. It is set if periodic images of the sphere
/// may reach into the cell of the domain. Only the CPU uses it.
pub(crate) const OUTSIDE: u16 = 1 << 15;
/// Mask for the number that holds the size class of a sphere and the bit [`OUTSIDE`]. The mask
/// selects [`OUTSIDE`] and log₂ of the number of time segments. If all selected bits are 0, the
/// sphere stays inside the periodic cell and is not cut into time segments, so it has a single
/// entry in the grids.
pub(crate) const SEVERAL: u16 = OUTSIDE | (POWERS << SIZE_BITS) as u16;

pub(crate) fn class_power(class: usize) -> u32 {
    (class >> SIZE_BITS) as u32 & POWERS
}

pub(crate) fn class_set(class: usize) -> u32 {
    (class >> (SIZE_BITS + POWER_BITS)) as u32
}

/// Returns the size class of a sphere of set `set` (0 or 1) that is cut into 2^`power` time
/// segments. `half_cell` is half the edge of the smallest cell that holds such a segment.
#[inline(always)]
pub(crate) fn size_class_of(half_cell: f32, power: u32, set: u32) -> u32 {
    let size = (half_cell.to_bits() >> SIZE_SHIFT) - FIRST_SIZE;
    size | power << SIZE_BITS | set << (SIZE_BITS + POWER_BITS)
}
