// The number of pairs that `pairs` has listed.

#needs counters, params

fn found_count() -> u32 {
    let all = vec2<u32>(atomicLoad(&counters.pairs[0]), atomicLoad(&counters.pairs[1]));
    return select(min(all.x, params.pair_capacity), params.pair_capacity, all.y > 0u);
}
