// Of each quantity that is known of the spheres of the sample: the median, and
// the lowest and highest when strays are left out. One workgroup a quantity.
// Twin of `src/cpu/measure.rs`.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> samples: array<Sampled>;
@group(0) @binding(2) var<storage, read_write> ranked: array<vec4<f32>, QUANTITIES>;

var<workgroup> sh_value: array<f32, MOST_SAMPLED>;

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
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    for (var k = local; k < params.sample; k += 256u) {
        sh_value[k] = value_of(k, workgroup.x);
    }
    workgroupBarrier();
    let out = params.sample / TRIM;
    let ranks = vec3<u32>(out, params.sample / 2u, params.sample - 1u - out);
    for (var k = local; k < params.sample; k += 256u) {
        var rank = 0u;
        for (var other = 0u; other < params.sample; other++) {
            let before = sh_value[other] < sh_value[k] || (sh_value[other] == sh_value[k] && other < k);
            rank += select(0u, 1u, before);
        }
        for (var asked = 0u; asked < 3u; asked++) {
            if rank == ranks[asked] {
                ranked[workgroup.x][asked] = sh_value[k];
            }
        }
    }
}
