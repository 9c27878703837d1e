//! The *tag* of a proxy: the index of its level and of its segment, packed into one 32-bit word.
//! Twin of `shaders/shared/tag.wgsl`.

pub(crate) const SEGMENT_BITS: u32 = 15;
pub(crate) const POWER_BITS: u32 = 4;
pub(crate) const POWERS: u32 = (1 << POWER_BITS) - 1;
pub(crate) const MAX_LEVELS: usize = 64;
pub(crate) const LEVEL_BITS: u32 = 6;

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

/// On the CPU only: every cell that the proxy searches in its own level has its own slot, so no
/// hash is computed.
pub(crate) const INSIDE: u32 = 1 << 31;

pub(crate) fn slab_of(tag: u32, time_power: u32) -> u32 {
    segment_of(tag) >> (segment_power(tag) - time_power)
}
