// Whether pairs are searched within one set, or between two sets. The second set is stored after the first.
// Twin of `src/shared/sets.rs`.

#needs params

fn are_two_sets() -> bool {
    return (params.flags & FLAG_TWO_SETS) != 0u;
}

fn set_of(sphere: u32) -> u32 {
    return select(0u, 1u, are_two_sets() && sphere >= params.b_offset);
}
