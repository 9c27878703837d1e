// Decides whether the candidates have to be counted before any is tested. Twin of a
// part of `max_candidates` in `src/cpu/plan/searches.rs`.

#needs params, plan, counters

fn allowed_candidates() -> f32 {
    return f32(params.most_candidates_high) * 4294967296.0 + f32(params.most_candidates_low);
}

// If every slot is as full as the fullest one.
fn may_be_crowded() -> bool {
    let most = plan.cells_searched * f32(atomicLoad(&counters.fullest));
    // 0.999 covers the rounding errors of `most`.
    return most > 0.999 * allowed_candidates();
}

// If the fullest slot alone has too many. With two sets, its spheres may be of one set.
fn must_be_crowded() -> bool {
    let fullest = f32(atomicLoad(&counters.fullest));
    // 1.001 covers the rounding errors of the number of pairs.
    let pairs = 0.5 * fullest * (fullest - 1.0);
    return (params.flags & FLAG_TWO_SETS) == 0u && pairs > 1.001 * allowed_candidates();
}
