// Cells of a level, and their slots. Twin of `src/shared/grid.rs`.

#import types::{Level}

// The point is relative to the frame.
fn cell_of(level: Level, point: vec3<f32>) -> vec3<i32> {
    return vec3<i32>(floor(point * level.inverse_cell));
}

fn in_box(level: Level, x0: i32, x1: i32, y: i32, z: i32) -> bool {
    let first = vec3<u32>(vec3<i32>(x0, y, z) - level.origin);
    let last_x = u32(x1 - level.origin.x);
    return all(first < level.dims) && last_x < level.dims.x;
}

fn slot_in_box(level: Level, cell: vec3<i32>, slab: u32) -> u32 {
    let at = vec3<u32>(cell - level.origin);
    return level.first_slot + ((slab * level.dims.z + at.z) * level.dims.y + at.y) * level.dims.x + at.x;
}

// In the box, consecutive along x. Elsewhere, a hash chooses from first_hashed to
// first_hashed + hash_mask.
fn slot_of(level: Level, cell: vec3<i32>, slab: u32) -> u32 {
    if in_box(level, cell.x, cell.x, cell.y, cell.z) {
        return slot_in_box(level, cell, slab);
    }
    var row = (slab * SLAB_HASH) ^ (u32(cell.y) * Y_HASH) ^ (u32(cell.z) * Z_HASH);
    row = (row ^ (row >> 15u)) * ROW_HASH;
    row ^= row >> 13u;
    return level.first_hashed + ((row + u32(cell.x)) & level.hash_mask);
}
