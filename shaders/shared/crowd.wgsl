// Decides whether a step may have too many candidate pairs, so that they have to be counted before any is
// tested. Twin of a part of `max_candidates` in `src/cpu/plan/searches.rs`.

#needs params, plan, counters

fn allowed_candidates() -> f32 {
    return f32(params.most_candidates_high) * 4294967296.0 + f32(params.most_candidates_low);
}

// Returns whether there may be more candidate pairs than allowed, if every entry of the table of cells is as
// full as the fullest one.
fn may_be_crowded() -> bool {
    let most = plan.cells_searched * f32(atomicLoad(&counters.fullest));
    // The factor 0.999 leaves a margin for the rounding errors of `most`, the greatest possible number of
    // candidate pairs.
    return most > 0.999 * allowed_candidates();
}

// Returns whether the fullest entry of the table of cells alone contains more candidate pairs than allowed.
// With two sets of spheres, returns false, because spheres of one set are not tested against each other.
fn must_be_crowded() -> bool {
    let fullest = f32(atomicLoad(&counters.fullest));
    // The factor 1.001 leaves a margin for the rounding errors of the number of pairs, which is
    // computed in float32.
    let pairs = 0.5 * fullest * (fullest - 1.0);
    return (params.flags & FLAG_TWO_SETS) == 0u && pairs > 1.001 * allowed_candidates();
}
