// Numbers of size classes. A size class is the proxies of one set, one power (their spheres are cut
// into 2^power time segments) and one half octave of size. Its number consists of these three.
// Twin of `src/shared/size_class.rs`.

// Returns the number of the size class of a sphere's proxies. The sphere is of set `of_set` and is
// cut into 2^power time segments. `half_cell` is half the edge of the smallest cells that may hold
// the proxies.
fn size_class_of(half_cell: f32, power: u32, of_set: u32) -> u32 {
    let size = (bitcast<u32>(half_cell) >> SIZE_SHIFT) - FIRST_SIZE;
    return size | (power << SIZE_BITS) | (of_set << (SIZE_BITS + POWER_BITS));
}

// Returns the power of the spheres in a size class, which are cut into 2^power time segments.
fn size_class_power(size_class: u32) -> u32 {
    return (size_class >> SIZE_BITS) & ((1u << POWER_BITS) - 1u);
}

// Returns the set of the spheres in a size class, 0 or 1.
fn size_class_set(size_class: u32) -> u32 {
    return size_class >> (SIZE_BITS + POWER_BITS);
}
