// A coarse grid marks the cells near spheres that have left their pads, so that most other spheres need not
// be tested against them. The marks are in a hash table of 32-bit entries, with as many entries as there are
// spheres. The spheres outside their pads are numbered: bit k of a cell's entry is set if any of the spheres
// k, k + 32, k + 64 and so on is near the cell. Bits that are set without need do no harm.

#import round_spheres::{cell_entry_of}
#import types::{Sphere}
#needs round_spheres, simulation

const ALL_BITS = 0xffffffffu;
// Largest number of cells along an axis that are marked around a sphere. If there are more, all spheres are
// tested.
const MOST_CELLS = 12;

fn left_cell_of(place: vec3<f32>) -> vec3<i32> {
    return vec3<i32>(clamp(floor(place / simulation.cell), vec3<f32>(-1e9), vec3<f32>(1e9)));
}

fn entry_of_cell(cell: vec3<i32>) -> u32 {
    let at = bitcast<vec3<u32>>(cell);
    var hash = (at.x * 0x9e3779b1u) ^ (at.y * 0x85ebca6bu) ^ (at.z * 0xc2b2ae35u);
    hash ^= hash >> 15u;
    return cell_entry_of(hash % simulation.spheres);
}

// Marks the cells that may contain the centre of a sphere that overlaps this one and has a radius of at most
// one cell edge. `number` is the number of this sphere among those outside their pads. If too many cells
// would have to be marked, marks none and returns false.
fn mark_cells(number: u32, sphere: Sphere) -> bool {
    if !(simulation.cell > 0.0) {
        return false;
    }
    // The term 1e-6 * length(sphere.center) covers the rounding errors of coordinates.
    let reach = (sphere.radius + simulation.cell) * 1.0001 + 1e-6 * length(sphere.center);
    let low = left_cell_of(sphere.center - reach);
    let sides = left_cell_of(sphere.center + reach) - low + 1;
    if any(sides > vec3<i32>(MOST_CELLS)) {
        return false;
    }
    for (var x = 0; x < sides.x; x++) {
        for (var y = 0; y < sides.y; y++) {
            for (var z = 0; z < sides.z; z++) {
                let entry = entry_of_cell(low + vec3<i32>(x, y, z));
                atomicOr(&round_spheres[entry], 1u << (number % 32u));
            }
        }
    }
    return true;
}

// Returns a bit mask of the spheres near `sphere` that have left their pads, as in an entry of the table.
fn left_nearby(sphere: Sphere) -> u32 {
    if !(simulation.cell > 0.0) || sphere.radius > simulation.cell {
        return ALL_BITS;
    }
    return atomicLoad(&round_spheres[entry_of_cell(left_cell_of(sphere.center))]);
}
