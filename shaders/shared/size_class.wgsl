// A size class is a group of spheres (or time segments) of one set. Their sizes differ by a factor of
// less than 1.5. All are cut into the same number 2^n of time segments. The number of a size class packs set, n and
// size. Twin of `src/shared/size_class.rs`.

// Returns the number of the size class (group of similar size) of a sphere of set `of_set` that is cut into
// 2^power time segments. `half_cell` is half the edge of the smallest grid cell that may hold such a
// segment.
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
