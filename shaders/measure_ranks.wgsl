// Computes the median and the trimmed extremes of every quantity of the sampled spheres. One
// workgroup ranks RANKED of the sampled spheres by one quantity.
// Twin of `src/cpu/measure/ranks.rs`.

#import types::{Params, Ranks, Sampled}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> samples: array<Sampled>;
@group(0) @binding(2) var<storage, read_write> ranks: array<Ranks, QUANTITIES>;

const MEASURE_RANKS_WORKGROUP = 256u;

// The quantity of all sampled spheres.
var<workgroup> sh_value: array<f32, MAX_SAMPLE>;
// Rank of each of the RANKED spheres among all sampled spheres.
var<workgroup> sh_rank: array<atomic<u32>, RANKED>;

// Returns a quantity of sampled sphere k: a coordinate, a velocity component, or log2 of the
// distance to a neighbour.
fn value_of(k: u32, quantity: u32) -> f32 {
    if quantity < 3u {
        return samples[k].middle[quantity];
    }
    if quantity < 6u {
        return samples[k].velocity[quantity - 3u];
    }
    return samples[k].log_distance[quantity - 6u];
}

// Counts, for each of the RANKED sampled spheres from `first` on, how many sampled spheres come
// before it. Several invocations share each of them, and each compares it with a part of the
// sample.
fn count_before(first: u32, local: u32) {
    let own = local % RANKED;
    let k = first + own;
    let parts = MEASURE_RANKS_WORKGROUP / RANKED;
    let part = (params.sample + parts - 1u) / parts;
    let begin = local / RANKED * part;
    if k < params.sample {
        var rank = 0u;
        for (var other = begin; other < min(begin + part, params.sample); other++) {
            let before = sh_value[other] < sh_value[k] || (sh_value[other] == sh_value[k] && other < k);
            rank += select(0u, 1u, before);
        }
        atomicAdd(&sh_rank[own], rank);
    }
}

// Writes the quantity of sampled sphere k if its rank is that of the median or of a trimmed
// extreme.
fn write_rank(k: u32, rank: u32, quantity: u32) {
    let strays = params.sample / TRIM_DIVISOR;
    if rank == strays {
        ranks[quantity].low = sh_value[k];
    }
    if rank == params.sample / 2u {
        ranks[quantity].median = sh_value[k];
    }
    if rank == params.sample - 1u - strays {
        ranks[quantity].high = sh_value[k];
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
    for (var k = local; k < params.sample; k += MEASURE_RANKS_WORKGROUP) {
        sh_value[k] = value_of(k, quantity);
    }
    workgroupBarrier();
    count_before(first, local);
    workgroupBarrier();
    let k = first + local;
    if local < RANKED && k < params.sample {
        write_rank(k, atomicLoad(&sh_rank[local]), quantity);
    }
}
