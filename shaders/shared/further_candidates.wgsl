// Candidates that are found because a sphere has left its pad. They follow the other candidates in the list, and each
// sphere has a linked list of them: `place_a` and `place_b` are the next candidates of spheres a and b in these lists.

#import dynamics::{Candidate, NEXT_WALL}
#import round_spheres::{ALL_CANDIDATES, head_of, add_to_round}
#needs candidates, left_spheres, round_spheres

fn left_count() -> u32 {
    return min(left_spheres[0], MOST_LEFT);
}

fn add_candidate(found: Candidate) {
    let index = atomicAdd(&round_spheres[ALL_CANDIDATES], 1u);
    if index >= arrayLength(&candidates) {
        return;
    }
    var candidate = found;
    candidate.place_a = atomicExchange(&round_spheres[head_of(found.a)], index);
    add_to_round(found.a);
    if found.b < NEXT_WALL {
        candidate.place_b = atomicExchange(&round_spheres[head_of(found.b)], index);
        add_to_round(found.b);
    }
    candidates[index] = candidate;
}
