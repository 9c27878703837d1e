// The number of a size class packs set, power and size. Twin of `src/shared/size_class.rs`.

// `half_cell` is half the edge of the smallest cell for a segment.
fn size_class_of(half_cell: f32, power: u32, of_set: u32) -> u32 {
    let size = (bitcast<u32>(half_cell) >> SIZE_SHIFT) - FIRST_SIZE;
    return size | (power << SIZE_BITS) | (of_set << (SIZE_BITS + POWER_BITS));
}

fn size_class_power(size_class: u32) -> u32 {
    return (size_class >> SIZE_BITS) & ((1u << POWER_BITS) - 1u);
}

fn size_class_set(size_class: u32) -> u32 {
    return size_class >> (SIZE_BITS + POWER_BITS);
}
