// Computes quantiles over the sample, of each coordinate, each velocity component, and
// the distances to two neighbours. Each workgroup ranks RANKED sampled spheres by one
// of these quantities. Twin of `src/cpu/measure/ranks.rs`.

#import sortable::{sortable}
#import types::{Params, Ranks, Sampled}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> samples: array<Sampled>;
@group(0) @binding(2) var<storage, read_write> ranks: array<Ranks, QUANTITIES>;

const MEASURE_RANKS_WORKGROUP = 256u;
// Above all other keys.
const NO_KEY = 0xffffffffu;

// Keys by sortable(), four per vector.
var<workgroup> sh_keys: array<vec4<u32>, MAX_SAMPLE / 4u>;
var<workgroup> sh_rank: array<atomic<u32>, RANKED>;

// With a dynamic vector index instead of select(), some compilers move the vector from
// registers to memory.
fn component(v: vec3<f32>, axis: u32) -> f32 {
    return select(select(v.z, v.y, axis == 1u), v.x, axis == 0u);
}

fn value_of(k: u32, quantity: u32) -> f32 {
    if quantity < 3u {
        return component(samples[k].middle, quantity);
    }
    if quantity < 6u {
        return component(samples[k].velocity, quantity - 3u);
    }
    return select(samples[k].log_distance.y, samples[k].log_distance.x, quantity == 6u);
}

fn key_of(k: u32, quantity: u32) -> u32 {
    if k >= params.sample {
        return NO_KEY;
    }
    return sortable(value_of(k, quantity));
}

// Counts how many spheres come before each of RANKED, from `first` on. Of equal keys,
// the lower index comes first. Several invocations work for each sphere, in parts of
// the sample.
fn count_before(first: u32, local: u32) {
    let own = local % RANKED;
    let k = first + own;
    let parts = MEASURE_RANKS_WORKGROUP / RANKED;
    let fours = (params.sample + 3u) / 4u;
    let part = (fours + parts - 1u) / parts;
    let begin = local / RANKED * part;
    if k < params.sample {
        let own_four = k / 4u;
        let key = sh_keys[own_four][k % 4u];
        var counts = vec4<u32>(0u);
        for (var four = begin; four < min(begin + part, fours); four++) {
            // Earlier vectors hold keys of lower indices, so equal keys count.
            let limit = key + select(0u, 1u, four < own_four);
            counts += select(vec4<u32>(0u), vec4<u32>(1u), sh_keys[four] < vec4<u32>(limit));
        }
        // In its own vector, an equal key counts only in an earlier component.
        if local < RANKED {
            let earlier = vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(k % 4u);
            let equal = sh_keys[own_four] == vec4<u32>(key);
            counts += select(vec4<u32>(0u), vec4<u32>(1u), earlier & equal);
        }
        atomicAdd(&sh_rank[own], counts.x + counts.y + counts.z + counts.w);
    }
}

fn write_rank(k: u32, rank: u32, quantity: u32) {
    let strays = params.sample / TRIM_DIVISOR;
    let value = value_of(k, quantity);
    if rank == strays {
        ranks[quantity].low = value;
    }
    if rank == params.sample / 2u {
        ranks[quantity].median = value;
    }
    if rank == params.sample - 1u - strays {
        ranks[quantity].high = value;
    }
}

@compute @workgroup_size(MEASURE_RANKS_WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let number = workgroup.x + workgroup.y * workgroups.x;
    let quantity = number % QUANTITIES;
    let first = number / QUANTITIES * RANKED;
    if first >= params.sample {
        return;
    }
    for (var four = local; 4u * four < params.sample; four += MEASURE_RANKS_WORKGROUP) {
        let k = 4u * four;
        sh_keys[four] = vec4<u32>(
            key_of(k, quantity),
            key_of(k + 1u, quantity),
            key_of(k + 2u, quantity),
            key_of(k + 3u, quantity),
        );
    }
    workgroupBarrier();
    count_before(first, local);
    workgroupBarrier();
    let k = first + local;
    if local < RANKED && k < params.sample {
        write_rank(k, atomicLoad(&sh_rank[local]), quantity);
    }
}
