//! The *tag* of a proxy: the index of its level and of its segment, packed into one 32-bit word.
//! Twin of `shaders/shared/tag.wgsl`.

/// Number of bits for the index of a time segment: a path is cut into at most 2¹⁵ segments.
pub(crate) const SEGMENT_BITS: u32 = 15;
/// Number of bits for the power of a sphere.
pub(crate) const POWER_BITS: u32 = 4;
pub(crate) const POWERS: u32 = (1 << POWER_BITS) - 1;
pub(crate) const MAX_LEVELS: usize = 64;
pub(crate) const LEVEL_BITS: u32 = 6;

/// Packs a level, a power and the index of a segment into one word.
pub(crate) fn make_tag(level: u32, power: u32, segment: u32) -> u32 {
    level | power << LEVEL_BITS | segment << (LEVEL_BITS + POWER_BITS)
}

pub(crate) fn level_of(tag: u32) -> u32 {
    tag & ((1 << LEVEL_BITS) - 1)
}

pub(crate) fn segment_power(tag: u32) -> u32 {
    tag >> LEVEL_BITS & POWERS
}

pub(crate) fn segment_of(tag: u32) -> u32 {
    (tag & !INSIDE) >> (LEVEL_BITS + POWER_BITS)
}

/// Flag in a tag, on the CPU. If it is set, every cell that the proxy searches in its own level has
/// its own slot, and the search computes no hash.
pub(crate) const INSIDE: u32 = 1 << 31;

/// Returns the time slab, of 2^`time_power`, that contains a segment.
pub(crate) fn slab_of(tag: u32, time_power: u32) -> u32 {
    segment_of(tag) >> (segment_power(tag) - time_power)
}
