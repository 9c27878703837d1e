// Each sphere has a linked list of the candidates found after a sphere has left its pad. The entry of a pair
// of spheres is the index of the pair among the candidates. That of a pair of a sphere and a triangle is
// NEXT_TRIANGLE plus the index of the pair.

#import dynamics::{NEXT_TRIANGLE}
#needs candidates, simulation_request

fn entry_after(entry: u32, sphere: u32) -> u32 {
    if entry >= NEXT_TRIANGLE {
        return candidates[simulation_request.near_capacity + entry - NEXT_TRIANGLE].place_a;
    }
    let pair = candidates[entry];
    return select(pair.place_b, pair.place_a, pair.a == sphere);
}
