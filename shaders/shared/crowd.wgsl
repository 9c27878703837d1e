// Whether there may be more candidates than allowed, so that they have to be counted
// before they are tested. Twin of `max_candidates` in `src/cpu/plan/searches.rs`.

#needs params, plan, counters

// If no slot holds more than the fullest: each proxy searches half its
// neighbourhood, and at most 4 cells along each axis in all time slabs of the coarser
// levels.
fn may_be_crowded() -> bool {
    var cells = MAX_OWN_CELLS;
    for (var number = 1u; number < plan.levels; number++) {
        cells += MAX_COARSER_CELLS * f32(1u << plan.level[number].time_power);
    }
    let most = f32(plan.sorted) * cells * f32(atomicLoad(&counters.fullest));
    let allowed = f32(params.most_candidates_high) * 4294967296.0 + f32(params.most_candidates_low);
    // A little less, for rounding.
    return most > 0.999 * allowed;
}
