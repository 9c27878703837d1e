// Two lists of the spheres whose next impact has to be found: one for the current round and one for the
// next. The buffer `round_spheres` contains:
// - the number of spheres in the list for the next round,
// - the number of candidate pairs of spheres, with those found after a sphere has left its pad,
// - the number of pairs of a sphere and a triangle, with those found after a sphere has left its pad,
// - for each sphere, the number of the latest round whose list contains the sphere,
// - the two lists, which change places after each round,
// - for each sphere, the first entry of its list of candidates found after a sphere has left its pad, or
//   NEXT_NONE: see `further_entries.wgsl`,
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

// Returns the index in `round_spheres` of the entry at position `number` in the list of a round.
fn entry_of(round: u32, number: u32) -> u32 {
    return HEADERS + (1u + round % 2u) * simulation.spheres + number;
}

// Returns the sphere at position `number` in the list of the current round. The first round has all
// spheres.
fn sphere_of_round(number: u32) -> u32 {
    if simulation.round == 0u {
        return number;
    }
    return atomicLoad(&round_spheres[entry_of(simulation.round, number)]);
}

// Adds a sphere to the list of the next round, unless it is in this list already.
fn add_to_round(sphere: u32) {
    let next = simulation.round + 1u;
    if atomicMax(&round_spheres[mark_of(sphere)], next) < next {
        let number = atomicAdd(&round_spheres[NEXT_LIST], 1u);
        atomicStore(&round_spheres[entry_of(next, number)], sphere);
    }
}
