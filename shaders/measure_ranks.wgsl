// Of each quantity that is known of the spheres of the sample: the median, and
// the lowest and highest when strays are left out. One workgroup for RANKED of
// the sample and one quantity.
// Twin of `src/cpu/measure.rs`.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> samples: array<Sampled>;
// Not vectors: workgroups write single words.
@group(0) @binding(2) var<storage, read_write> ranked: array<array<f32, 4>, QUANTITIES>;

var<workgroup> sh_value: array<f32, MOST_SAMPLED>;
var<workgroup> sh_rank: array<atomic<u32>, RANKED>;

fn value_of(k: u32, quantity: u32) -> f32 {
    if quantity < 3u {
        return samples[k].middle[quantity];
    }
    if quantity < 6u {
        return samples[k].velocity[quantity - 3u];
    }
    return samples[k].log_distance[quantity - 6u];
}

@compute @workgroup_size(256)
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
    for (var k = local; k < params.sample; k += 256u) {
        sh_value[k] = value_of(k, quantity);
    }
    workgroupBarrier();
    // Several invocations share one of the sample, and compare it with a part of
    // the others each.
    let own = local % RANKED;
    let k = first + own;
    let parts = 256u / RANKED;
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
    workgroupBarrier();
    if local < RANKED && k < params.sample {
        let out = params.sample / TRIM;
        let ranks = vec3<u32>(out, params.sample / 2u, params.sample - 1u - out);
        let rank = atomicLoad(&sh_rank[local]);
        for (var asked = 0u; asked < 3u; asked++) {
            if rank == ranks[asked] {
                ranked[quantity][asked] = sh_value[k];
            }
        }
    }
}
