// The numbers of size classes, which consist of set, power and size.
// Twin of `src/shared/size_class.rs`.

// Returns the size class of the proxies of a sphere that is cut into 2^power segments.
fn size_class_of(half_cell: f32, power: u32, of_set: u32) -> u32 {
    let size = (bitcast<u32>(half_cell) >> SIZE_SHIFT) - FIRST_SIZE;
    return size | (power << SIZE_BITS) | (of_set << (SIZE_BITS + POWER_BITS));
}

// Returns the power of the spheres in a size class.
fn size_class_power(size_class: u32) -> u32 {
    return (size_class >> SIZE_BITS) & ((1u << POWER_BITS) - 1u);
}

// Returns the set of the spheres in a size class, 0 or 1.
fn size_class_set(size_class: u32) -> u32 {
    return size_class >> (SIZE_BITS + POWER_BITS);
}
