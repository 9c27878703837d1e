//! A proxy's *tag*: its level and its time segment, packed into one word. Twin of
//! `shaders/shared/tag.wgsl`.

/// A sphere's motion is cut into at most 2¹⁵ segments.
pub(crate) const SEGMENT_BITS: u32 = 15;
/// Bits of a tag that hold the power of segments.
pub(crate) const POWER_BITS: u32 = 4;
/// Mask of [`POWER_BITS`] bits.
pub(crate) const POWERS: u32 = (1 << POWER_BITS) - 1;
/// The most levels a plan can have.
pub(crate) const MAX_LEVELS: usize = 64;
/// Bits of a tag that hold the level.
pub(crate) const LEVEL_BITS: u32 = 6;

/// The tag of a proxy: its level, and which of 2^`power` time segments of its sphere it is.
pub(crate) fn make_tag(level: u32, power: u32, segment: u32) -> u32 {
    level | power << LEVEL_BITS | segment << (LEVEL_BITS + POWER_BITS)
}

/// The level of a tag.
pub(crate) fn level_of(tag: u32) -> u32 {
    tag & ((1 << LEVEL_BITS) - 1)
}

/// n, for a sphere cut into 2ⁿ segments.
pub(crate) fn segment_power(tag: u32) -> u32 {
    tag >> LEVEL_BITS & POWERS
}

/// k, for the segment from k·dt/2ⁿ to (k + 1)·dt/2ⁿ.
pub(crate) fn segment_of(tag: u32) -> u32 {
    (tag & !INSIDE) >> (LEVEL_BITS + POWER_BITS)
}

/// Set in a tag, on the CPU only, when all cells around the proxy's own are within the box, as
/// they are for most.
pub(crate) const INSIDE: u32 = 1 << 31;

/// The time slab of a proxy, by its tag, in a level of 2^`time_power` slabs.
pub(crate) fn slab_of(tag: u32, time_power: u32) -> u32 {
    segment_of(tag) >> (segment_power(tag) - time_power)
}
