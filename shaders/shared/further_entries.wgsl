// The linked list of the candidates of a sphere that were found because a sphere has left its pad. Its entries are
// those of the rows of candidates: the index of a candidate pair, or NEXT_TRIANGLE plus the index of a pair of a sphere
// and a triangle.

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
