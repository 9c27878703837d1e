// Levels, cells and slots. Twin of `src/grid.rs`.

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

fn cell_of(level: Level, point: vec3<f32>) -> vec3<i32> {
    return vec3<i32>(floor(point * level.inverse_cell));
}

// Whether a row of cells from x0 to x1 lies within the box.
fn in_box(level: Level, x0: i32, x1: i32, y: i32, z: i32) -> bool {
    let first = vec3<u32>(vec3<i32>(x0, y, z) - level.origin);
    let last_x = u32(x1 - level.origin.x);
    return all(first < level.dims) && last_x < level.dims.x;
}

// The time slab of a proxy, by its tag.
fn slab_of(tag: u32, time_power: u32) -> u32 {
    return segment_of(tag) >> (segment_power(tag) - time_power);
}

// The slot of a cell in a time slab. Nothing else knows how cells map to slots,
// but that within the box x runs contiguously.
fn slot_of(level: Level, cell: vec3<i32>, slab: u32) -> u32 {
    if in_box(level, cell.x, cell.x, cell.y, cell.z) {
        let at = vec3<u32>(cell - level.origin);
        return level.first_slot + ((slab * level.dims.z + at.z) * level.dims.y + at.y) * level.dims.x + at.x;
    }
    var row = (slab * 0x27d4eb2fu) ^ (u32(cell.y) * 0x9e3779b1u) ^ (u32(cell.z) * 0x85ebca77u);
    row = (row ^ (row >> 15u)) * 0xc2b2ae3du;
    row ^= row >> 13u;
    return level.first_hashed + ((row + u32(cell.x)) & level.hash_mask);
}
