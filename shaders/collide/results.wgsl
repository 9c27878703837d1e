// Writes the results of the step for the user's shaders, and the size of the indirect dispatches over the
// pairs. Dispatched as one workgroup.

#import carom::{CAROM_IMAGE_OUT_OF_RANGE, CAROM_INVALID_SPHERES, CAROM_TOO_CROWDED, CAROM_TOO_MANY_SEGMENTS}
#import carom::{CAROM_TOO_MANY_SPHERES, CAROM_TRUNCATED, CAROM_UNFINISHED, CaromResults}
#import dispatch::{DispatchArguments, dispatch_over}
#import found_count::{found_count}
#import types::{Counters, Params, Plan, Space}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> plan: Plan;
@group(0) @binding(2) var<storage, read> space: Space;
@group(0) @binding(3) var<storage, read_write> counters: Counters;
@group(0) @binding(4) var<storage, read_write> results: CaromResults;
@group(0) @binding(5) var<storage, read_write> pairs_dispatch: DispatchArguments;

// Low word first.
fn more(count: vec2<u32>, limit: vec2<u32>) -> bool {
    return count.y > limit.y || (count.y == limit.y && count.x > limit.x);
}

fn found() -> vec2<u32> {
    return vec2<u32>(atomicLoad(&counters.pairs[0]), atomicLoad(&counters.pairs[1]));
}

fn candidates() -> vec2<u32> {
    return vec2<u32>(atomicLoad(&counters.candidates[0]), atomicLoad(&counters.candidates[1]));
}

fn segments() -> vec2<u32> {
    return vec2<u32>(atomicLoad(&counters.segments[0]), atomicLoad(&counters.segments[1]));
}

fn status() -> u32 {
    let crowded = more(candidates(), vec2<u32>(params.most_candidates_low, params.most_candidates_high));
    // With too many candidates, `pairs` ends most searches early on purpose.
    let finished = crowded || atomicLoad(&counters.finished) == plan.sorted;
    var status = 0u;
    status |= select(0u, CAROM_TRUNCATED, more(found(), vec2<u32>(params.pair_capacity, 0u)));
    status |= select(0u, CAROM_TOO_MANY_SEGMENTS, more(segments(), vec2<u32>(params.segment_capacity, 0u)));
    status |= select(0u, CAROM_TOO_CROWDED, crowded);
    status |= select(0u, CAROM_TOO_MANY_SPHERES, counters.spheres_needed > 0u);
    status |= select(0u, CAROM_INVALID_SPHERES, atomicLoad(&counters.invalid) > 0u);
    status |= select(0u, CAROM_IMAGE_OUT_OF_RANGE, atomicLoad(&counters.out_of_range) > 0u);
    status |= select(0u, CAROM_UNFINISHED, (params.flags & FLAG_WATCH) != 0u && !finished);
    return status;
}

@compute @workgroup_size(INVALID_LISTED)
fn main(@builtin(local_invocation_index) local: u32) {
    results.invalid_index[local] = atomicLoad(&counters.invalid_index[local]);
    if local > 0u {
        return;
    }
    results.status = status();
    results.pairs = select(found_count(), atomicLoad(&counters.decided), (params.flags & FLAG_DECIDE) != 0u);
    results.grazing = atomicLoad(&counters.grazing);
    results.found = found();
    results.candidates = candidates();
    results.segments = segments();
    results.images = vec2<u32>(atomicLoad(&counters.images[0]), atomicLoad(&counters.images[1]));
    // 0 - 1 wraps around to CAROM_NONE.
    results.out_of_range = atomicLoad(&counters.out_of_range) - 1u;
    results.spheres = params.spheres;
    results.b_offset = params.b_offset;
    results.invalid = atomicLoad(&counters.invalid);
    results.spheres_needed = max(params.spheres, counters.spheres_needed);
    results.proxies = plan.sorted;
    results.levels = plan.levels;
    results.segment = max(space.segment, params.shortest_segment);
    results.serial = params.serial;
    results.sorted = 0u;
    results.began = 0u;
    results.lasted = 0u;
    results.ended = 0u;
    results.sorted_columns = 0u;
    pairs_dispatch = dispatch_over(results.pairs);
    results.columns = pairs_dispatch.x;
}
