// Whether pairs are sought within one set of spheres, or between two that stand one after
// the other. Twin of `src/shared/sets.rs`.

#needs params

// Whether only pairs between two sets count.
fn are_two_sets() -> bool {
    return (params.flags & FLAG_TWO_SETS) != 0u;
}

// The set of a sphere, 0 or 1.
fn set_of(sphere: u32) -> u32 {
    return select(0u, 1u, are_two_sets() && sphere >= params.b_offset);
}
