//! The *tag* of a proxy: its level and its time segment, packed into one word. Twin of
//! `shaders/shared/tag.wgsl`.

/// Largest power of a sphere: a path is cut into at most 2¹⁵ time segments. Also the number of bits
/// of a tag that hold the number of the segment.
pub(crate) const SEGMENT_BITS: u32 = 15;
/// Number of bits of a tag that hold the power of the sphere, which is log₂ of its number of
/// segments.
pub(crate) const POWER_BITS: u32 = 4;
/// Mask for a number of [`POWER_BITS`] bits.
pub(crate) const POWERS: u32 = (1 << POWER_BITS) - 1;
/// Largest number of levels (grids) of a step.
pub(crate) const MAX_LEVELS: usize = 64;
/// Number of low bits of a tag that hold the level.
pub(crate) const LEVEL_BITS: u32 = 6;

/// The tag of a proxy of level `level`, which is number `segment` of the 2^`power` time segments of
/// its sphere.
pub(crate) fn make_tag(level: u32, power: u32, segment: u32) -> u32 {
    level | power << LEVEL_BITS | segment << (LEVEL_BITS + POWER_BITS)
}

/// The level of the proxy with this tag.
pub(crate) fn level_of(tag: u32) -> u32 {
    tag & ((1 << LEVEL_BITS) - 1)
}

/// The power of the sphere of the proxy with this tag: n, if the sphere is cut into 2ⁿ segments.
pub(crate) fn segment_power(tag: u32) -> u32 {
    tag >> LEVEL_BITS & POWERS
}

/// The number k of the time segment of the proxy with this tag. In a step of duration dt, a segment
/// of a sphere cut into 2ⁿ segments lasts from k·dt/2ⁿ to (k + 1)·dt/2ⁿ.
pub(crate) fn segment_of(tag: u32) -> u32 {
    (tag & !INSIDE) >> (LEVEL_BITS + POWER_BITS)
}

/// Flag in the tag of a proxy, used on the CPU only. It says that all cells that the proxy searches
/// in its own level are within the level's box. This is so for most proxies.
pub(crate) const INSIDE: u32 = 1 << 31;

/// The time slab that contains the segment of the proxy with this tag, in a level of 2^`time_power`
/// slabs.
pub(crate) fn slab_of(tag: u32, time_power: u32) -> u32 {
    segment_of(tag) >> (segment_power(tag) - time_power)
}
