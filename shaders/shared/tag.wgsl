// The tag of a proxy: its level and its time segment, packed into one word. Twin of `src/shared/tag.rs`.

fn make_tag(level: u32, power: u32, segment: u32) -> u32 {
    return level | (power << LEVEL_BITS) | (segment << (LEVEL_BITS + POWER_BITS));
}

fn level_of(tag: u32) -> u32 {
    return tag & ((1u << LEVEL_BITS) - 1u);
}

fn segment_power(tag: u32) -> u32 {
    return (tag >> LEVEL_BITS) & ((1u << POWER_BITS) - 1u);
}

fn segment_of(tag: u32) -> u32 {
    return tag >> (LEVEL_BITS + POWER_BITS);
}

// Each segment lies in one of 2^time_power slabs, because n is at least time_power.
fn slab_of(tag: u32, time_power: u32) -> u32 {
    return segment_of(tag) >> (segment_power(tag) - time_power);
}
