//! *Size classes*: the numbering of the histogram of proxies by set, number of segments
//! and size. Twin of `shaders/shared/size_class.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "the number of a size class has few bits"
)]

use super::tag::{POWER_BITS, POWERS};

/// The smallest cell, 2⁻⁶⁰. So a cell's reciprocal is in range, and what subnormal
/// coordinates lose is nothing beside a cell.
pub(crate) const SMALLEST_CELL: f32 = 1.0 / (1_u64 << 60) as f32;

/// Size classes: for each set of spheres and each power of segments, two for each octave
/// of size from half the smallest cell on.
pub(crate) const SIZE_CLASSES: usize = 2 << (POWER_BITS + SIZE_BITS);
/// Bits of a class's number that tell the size. The bits above them tell the power of
/// segments, and one bit above those the set.
pub(crate) const SIZE_BITS: u32 = 8;
/// From the bits of a float32 to its half octave.
pub(crate) const SIZE_SHIFT: u32 = 22;
/// What the smallest size is shifted to.
pub(crate) const FIRST_SIZE: u32 = (SMALLEST_CELL * 0.5).to_bits() >> SIZE_SHIFT;

/// n, for a class of proxies of spheres cut into 2ⁿ segments.
pub(crate) fn class_power(class: usize) -> u32 {
    (class >> SIZE_BITS) as u32 & POWERS
}

/// The set, 0 or 1, of the spheres of a class.
pub(crate) fn class_set(class: usize) -> u32 {
    (class >> (SIZE_BITS + POWER_BITS)) as u32
}

/// The size class of the proxies of a sphere of set 0 or 1, cut into 2^`power` segments.
#[inline(always)]
pub(crate) fn size_class_of(half_cell: f32, power: u32, set: u32) -> u32 {
    let size = (half_cell.to_bits() >> SIZE_SHIFT) - FIRST_SIZE;
    size | power << SIZE_BITS | set << (SIZE_BITS + POWER_BITS)
}
