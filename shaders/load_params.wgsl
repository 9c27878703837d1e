// How many spheres there are, when the caller's buffers tell. One invocation.
// Twin of `Params::new` in `src/gpu/buffers.rs`, and of `sample_size` in
// `src/cpu/measure.rs`.

@group(0) @binding(0) var<storage, read_write> params: Params;
@group(0) @binding(1) var<uniform> first: SourceLayout;
@group(0) @binding(2) var<uniform> second: SourceLayout;
@group(0) @binding(3) var<storage, read> first_count: array<u32>;
@group(0) @binding(4) var<storage, read> second_count: array<u32>;
@group(0) @binding(5) var<storage, read_write> counters: Counters;

@compute @workgroup_size(1)
fn main() {
    var counts = vec2<u32>(first.at_most, second.at_most);
    if first.counted != 0u {
        counts.x = first_count[first.count_word];
    }
    if second.counted != 0u {
        counts.y = second_count[second.count_word];
    }
    // With no spheres in one of two sets there is nothing to be found.
    let between = second.used != 0u;
    let fit = counts.x <= first.at_most && counts.y <= second.at_most;
    let all = counts.x + counts.y;
    let some = fit && (!between || (counts.x > 0u && counts.y > 0u));
    if !fit {
        counters.spheres_needed = select(all, 0xffffffffu, all < counts.x);
    }
    params.spheres = select(0u, all, some);
    params.split = select(0u, counts.x, some && between);
    let few = clamp(params.spheres / SPHERES_A_SMALL_SAMPLE, FEWEST_OF_FEW_SAMPLED, FEWEST_SAMPLED);
    params.sample = min(clamp(params.spheres / SPHERES_A_SAMPLE, few, MOST_SAMPLED), params.spheres);
}
