//! The *tag* of a proxy: its level and its time segment, packed into one word. Twin of
//! `shaders/shared/tag.wgsl`.

/// Largest power of a sphere, and number of bits of a tag that hold the segment: a path is cut
/// into at most 2¹⁵ segments.
pub(crate) const SEGMENT_BITS: u32 = 15;
/// Number of bits of a tag that hold the power.
pub(crate) const POWER_BITS: u32 = 4;
/// Mask of the [`POWER_BITS`] low bits.
pub(crate) const POWERS: u32 = (1 << POWER_BITS) - 1;
/// Largest number of levels of a plan.
pub(crate) const MAX_LEVELS: usize = 64;
/// Number of low bits of a tag that hold the level.
pub(crate) const LEVEL_BITS: u32 = 6;

/// The tag of a proxy of this level that is number `segment` of the 2^`power` segments of its
/// sphere.
pub(crate) fn make_tag(level: u32, power: u32, segment: u32) -> u32 {
    level | power << LEVEL_BITS | segment << (LEVEL_BITS + POWER_BITS)
}

/// The level of the proxy with this tag.
pub(crate) fn level_of(tag: u32) -> u32 {
    tag & ((1 << LEVEL_BITS) - 1)
}

/// The power of a proxy's sphere: n, if the sphere is cut into 2ⁿ segments.
pub(crate) fn segment_power(tag: u32) -> u32 {
    tag >> LEVEL_BITS & POWERS
}

/// The number k of a proxy's segment, which lasts from k·dt/2ⁿ to (k + 1)·dt/2ⁿ.
pub(crate) fn segment_of(tag: u32) -> u32 {
    (tag & !INSIDE) >> (LEVEL_BITS + POWER_BITS)
}

/// Flag in a tag, used on the CPU only: the half neighbourhood that the proxy searches in its own
/// level is entirely within the box. This holds for most proxies.
pub(crate) const INSIDE: u32 = 1 << 31;

/// The time slab of the proxy with this tag, in a level of 2^`time_power` slabs.
pub(crate) fn slab_of(tag: u32, time_power: u32) -> u32 {
    segment_of(tag) >> (segment_power(tag) - time_power)
}
