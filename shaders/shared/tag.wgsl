// A proxy's tag: its level and its time segment, packed into one word.
// Twin of `src/shared/tag.rs`.

fn make_tag(level: u32, power: u32, segment: u32) -> u32 {
    return level | (power << LEVEL_BITS) | (segment << (LEVEL_BITS + POWER_BITS));
}

fn level_of(tag: u32) -> u32 {
    return tag & ((1u << LEVEL_BITS) - 1u);
}

// Returns the power of the proxy's sphere, which is cut into 2^power segments.
fn segment_power(tag: u32) -> u32 {
    return (tag >> LEVEL_BITS) & ((1u << POWER_BITS) - 1u);
}

// Returns the number of the proxy's segment, from 0.
fn segment_of(tag: u32) -> u32 {
    return tag >> (LEVEL_BITS + POWER_BITS);
}

// Returns the time slab that contains a proxy's segment, in a level with 2^time_power slabs. The
// level must not have more slabs than the proxy's sphere has segments.
fn slab_of(tag: u32, time_power: u32) -> u32 {
    return segment_of(tag) >> (segment_power(tag) - time_power);
}
