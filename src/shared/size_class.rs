//! *Size classes*: the numbering of the histogram of proxies by set, number of segments
//! and size.

#![allow(
    clippy::cast_possible_truncation,
    reason = "a number of a size class has few bits"
)]

use super::tag::{POWER_BITS, POWERS};

/// No cell is smaller: 2⁻⁶⁰. So a cell's reciprocal is in range, and what
/// subnormal coordinates lose is nothing beside a cell.
pub(crate) const SMALLEST_CELL: f32 = 1.0 / (1_u64 << 60) as f32;

/// Bins of the histogram: of each set of spheres and each power of segments,
/// two for each octave of size from half the smallest cell on.
pub(crate) const BINS: usize = 2 << (POWER_BITS + BIN_BITS);
/// Bits of a bin's number that tell the size. Those of the power are above them,
/// and one above those tells the set.
pub(crate) const BIN_BITS: u32 = 8;
/// From the bits of a float32 to its half octave.
pub(crate) const SIZE_SHIFT: u32 = 22;
/// What the smallest size is shifted to.
pub(crate) const FIRST_SIZE: u32 = (SMALLEST_CELL * 0.5).to_bits() >> SIZE_SHIFT;

/// n, for a bin of proxies of spheres cut into 2ⁿ segments.
pub(crate) fn bin_power(bin: usize) -> u32 {
    (bin >> BIN_BITS) as u32 & POWERS
}

/// Which of two sets the spheres of a bin are of.
pub(crate) fn bin_set(bin: usize) -> u32 {
    (bin >> (BIN_BITS + POWER_BITS)) as u32
}

/// The size class of the proxies of a sphere of the first or second set.
#[inline(always)]
pub(crate) fn size_class(half_cell: f32, power: u32, set: u32) -> u32 {
    let size = (half_cell.to_bits() >> SIZE_SHIFT) - FIRST_SIZE;
    size | power << BIN_BITS | set << (BIN_BITS + POWER_BITS)
}

pub(crate) const SIZE_CLASSES: usize = BINS;
pub(crate) const SIZE_BITS: u32 = BIN_BITS;
