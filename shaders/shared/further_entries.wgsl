// Each sphere has a linked list of its further candidates. These are candidates found after a sphere has
// moved farther than its pad (the assumed bound on its displacement). For a pair of spheres, the entry
// in the list is the index of the pair among the candidates. For a pair of a sphere and a triangle, the
// entry is NEXT_TRIANGLE plus the index of the pair.

#import dynamics::{NEXT_TRIANGLE}
#needs candidates, simulation_request

// Returns the next entry in the list of a sphere, or NEXT_NONE.
fn entry_after(entry: u32, sphere: u32) -> u32 {
    if entry >= NEXT_TRIANGLE {
        return candidates[simulation_request.near_capacity + entry - NEXT_TRIANGLE].place_a;
    }
    let pair = candidates[entry];
    return select(pair.place_b, pair.place_a, pair.a == sphere);
}
