// Two lists of the spheres whose next impact has to be found: one for the current round and one for the
// next. *Further* candidates are those found after a sphere has left its pad. The buffer `round_spheres` contains:
// - the number of spheres in the list for the next round,
// - the number of candidate pairs of spheres, including further candidates,
// - the number of candidate pairs of a sphere and a triangle, including further candidates,
// - for each sphere, the number of the latest round whose list contains the sphere,
// - the two lists, which change places after each round,
// - for each sphere, the first entry of its list of further candidates, or NEXT_NONE: see
//   `further_entries.wgsl`,
// - a table of the cells near spheres that have left their pads: see `left_cells.wgsl`.

#needs round_spheres, simulation

const NEXT_LIST = 0u;
const ALL_PAIRS = 1u;
const ALL_NEAR = 2u;
const HEADERS = 3u;

fn mark_of(sphere: u32) -> u32 {
    return HEADERS + sphere;
}

fn head_of(sphere: u32) -> u32 {
    return HEADERS + 3u * simulation.spheres + sphere;
}

fn cell_entry_of(number: u32) -> u32 {
    return HEADERS + 4u * simulation.spheres + number;
}

fn entry_of(round: u32, number: u32) -> u32 {
    return HEADERS + (1u + round % 2u) * simulation.spheres + number;
}

// Returns the sphere at position `number` in the list for the current round. Round 0 has no stored list,
// because it handles all spheres.
fn sphere_of_round(number: u32) -> u32 {
    if number >= select(simulation.in_round, 0u, simulation.round == 0u) {
        return number;
    }
    return atomicLoad(&round_spheres[entry_of(simulation.round, number)]);
}

// Marks a sphere as listed for the next round. Returns whether it was not marked before.
fn mark_for_round(sphere: u32) -> bool {
    let next = simulation.round + 1u;
    return atomicMax(&round_spheres[mark_of(sphere)], next) < next;
}

// Stores a sphere at position `number` in the list for the next round.
fn list_for_round(number: u32, sphere: u32) {
    atomicStore(&round_spheres[entry_of(simulation.round + 1u, number)], sphere);
}

// Adds a sphere that has been marked to the list for the next round.
fn append_to_round(sphere: u32) {
    list_for_round(atomicAdd(&round_spheres[NEXT_LIST], 1u), sphere);
}

// Adds a sphere to the list for the next round, unless the list already contains the sphere.
fn add_to_round(sphere: u32) {
    if mark_for_round(sphere) {
        append_to_round(sphere);
    }
}
