// Adds candidates found after a sphere has left its pad. They follow all candidates found before. In
// addition, each sphere has a linked list of them, which `further_entries.wgsl` reads.

#import dynamics::{Candidate, NEXT_TRIANGLE}
#import round_spheres::{ALL_NEAR, ALL_PAIRS, add_to_round, head_of}
#needs candidates, left_spheres, round_spheres, simulation_request

fn left_count() -> u32 {
    return min(left_spheres[0], MOST_LEFT);
}

fn add_pair(found: Candidate) {
    let index = atomicAdd(&round_spheres[ALL_PAIRS], 1u);
    if index >= simulation_request.near_capacity {
        return;
    }
    var pair = found;
    pair.place_a = atomicExchange(&round_spheres[head_of(found.a)], index);
    pair.place_b = atomicExchange(&round_spheres[head_of(found.b)], index);
    candidates[index] = pair;
    add_to_round(found.a);
    add_to_round(found.b);
}

fn add_near(found: Candidate) {
    let index = atomicAdd(&round_spheres[ALL_NEAR], 1u);
    if index >= simulation_request.near_capacity {
        return;
    }
    var near = found;
    near.place_a = atomicExchange(&round_spheres[head_of(found.a)], NEXT_TRIANGLE + index);
    candidates[simulation_request.near_capacity + index] = near;
    add_to_round(found.a);
}
