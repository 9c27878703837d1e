// Determines the number of spheres in the step and in the sample, which may be in a
// buffer of the caller. Dispatched as one invocation. Twin of `Params::new` in
// `src/gpu/device/shader/layout.rs`.

#import sources::{SourceLayout}
#import step_params::{sample_size}
#import types::{Counters, Params}

@group(0) @binding(0) var<storage, read_write> params: Params;
@group(0) @binding(1) var<uniform> first_source: SourceLayout;
@group(0) @binding(2) var<uniform> second_source: SourceLayout;
@group(0) @binding(3) var<storage, read> first_count: array<u32>;
@group(0) @binding(4) var<storage, read> second_count: array<u32>;
@group(0) @binding(5) var<storage, read_write> counters: Counters;

// Whether a set is loaded even if the other is empty: its spheres may touch walls.
override LOAD_ONE_OF_TWO: bool = false;

@compute @workgroup_size(1)
fn main() {
    // With the lengths of the periodic domain and of the walls.
    atomicMax(&counters.extent, bitcast<u32>(first_source.domain_extent));
    var counts = vec2<u32>(first_source.at_most, second_source.at_most);
    if first_source.counted != 0u {
        counts.x = first_count[first_source.count_word];
    }
    if second_source.counted != 0u {
        counts.y = second_count[second_source.count_word];
    }
    let between = second_source.used != 0u;
    let fit = counts.x <= first_source.at_most && counts.y <= second_source.at_most;
    let all = counts.x + counts.y;
    let some = fit && (!between || LOAD_ONE_OF_TWO || (counts.x > 0u && counts.y > 0u));
    // The number in both sets, or 2^32 - 1 if it overflows.
    if !fit {
        counters.spheres_needed = select(all, 0xffffffffu, all < counts.x);
    }
    params.spheres = select(0u, all, some);
    params.flags = (params.flags & ~FLAG_TWO_SETS) | select(0u, FLAG_TWO_SETS, some && between);
    params.b_offset = select(0u, counts.x, some && between);
    params.sample = sample_size(params.spheres);
}
