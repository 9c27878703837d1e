//! Size classes of proxies. Twin of `shaders/shared/size_class.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "the number of a size class has few bits"
)]

use super::tag::{POWER_BITS, POWERS};

/// Its reciprocal does not overflow float32, and flushing subnormal coordinates does not matter
/// beside it.
pub(crate) const SMALLEST_CELL: f32 = 1.0 / (1_u64 << 60) as f32;

/// For each set and each power, two per octave of size, from half of [`SMALLEST_CELL`].
pub(crate) const SIZE_CLASSES: usize = 2 << (POWER_BITS + SIZE_BITS);
/// The low bits hold the size, the next [`POWER_BITS`] the power, and the bit above them the set.
pub(crate) const SIZE_BITS: u32 = 8;
pub(crate) const SIZE_SHIFT: u32 = 22;
pub(crate) const FIRST_SIZE: u32 = (SMALLEST_CELL * 0.5).to_bits() >> SIZE_SHIFT;

/// On the CPU only: images of the sphere may reach into the cell of the domain.
pub(crate) const OUTSIDE: u16 = 1 << 15;
/// If these bits are 0, the sphere stays inside the periodic cell and is not cut: a single proxy.
pub(crate) const SEVERAL: u16 = OUTSIDE | (POWERS << SIZE_BITS) as u16;

pub(crate) fn class_power(class: usize) -> u32 {
    (class >> SIZE_BITS) as u32 & POWERS
}

pub(crate) fn class_set(class: usize) -> u32 {
    (class >> (SIZE_BITS + POWER_BITS)) as u32
}

/// `half_cell` is half the edge of the smallest cell that holds a segment.
#[inline(always)]
pub(crate) fn size_class_of(half_cell: f32, power: u32, set: u32) -> u32 {
    let size = (half_cell.to_bits() >> SIZE_SHIFT) - FIRST_SIZE;
    size | power << SIZE_BITS | set << (SIZE_BITS + POWER_BITS)
}
