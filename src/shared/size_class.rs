//! Size classes of proxies. Twin of `shaders/shared/size_class.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "the number of a size class has few bits"
)]

use super::tag::{POWER_BITS, POWERS};

/// Smallest edge of a cell. It is large enough that its reciprocal does not overflow float32, and
/// much larger than the subnormal numbers, so it does not matter if a GPU flushes subnormal
/// coordinates to zero.
pub(crate) const SMALLEST_CELL: f32 = 1.0 / (1_u64 << 60) as f32;

/// Number of size classes. For each set and each power, there are two classes per octave of size,
/// starting at half of [`SMALLEST_CELL`].
pub(crate) const SIZE_CLASSES: usize = 2 << (POWER_BITS + SIZE_BITS);
/// Number of low bits of a size class, which hold the size, with two steps in each octave. The next
/// [`POWER_BITS`] bits hold the power, and the bit above them the set.
pub(crate) const SIZE_BITS: u32 = 8;
pub(crate) const SIZE_SHIFT: u32 = 22;
pub(crate) const FIRST_SIZE: u32 = (SMALLEST_CELL * 0.5).to_bits() >> SIZE_SHIFT;

/// Bit that is stored with the size class of a sphere, on the CPU only. It is set if images of the
/// sphere may reach into the cell of the domain.
pub(crate) const OUTSIDE: u16 = 1 << 15;
/// Mask for a size class with the bit [`OUTSIDE`]. It selects [`OUTSIDE`] and the power. If all
/// selected bits are 0, the sphere stays inside the periodic cell and is not cut, so it is a single
/// proxy.
pub(crate) const SEVERAL: u16 = OUTSIDE | (POWERS << SIZE_BITS) as u16;

pub(crate) fn class_power(class: usize) -> u32 {
    (class >> SIZE_BITS) as u32 & POWERS
}

pub(crate) fn class_set(class: usize) -> u32 {
    (class >> (SIZE_BITS + POWER_BITS)) as u32
}

/// Returns the size class of a sphere of set `set` (0 or 1) that is cut into 2^`power` segments.
/// `half_cell` is half the edge of the smallest cell that holds such a segment.
#[inline(always)]
pub(crate) fn size_class_of(half_cell: f32, power: u32, set: u32) -> u32 {
    let size = (half_cell.to_bits() >> SIZE_SHIFT) - FIRST_SIZE;
    size | power << SIZE_BITS | set << (SIZE_BITS + POWER_BITS)
}
