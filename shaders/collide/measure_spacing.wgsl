// Counts the pairs of the sample in each octave of distance. Also estimates how far the
// NEAR_RANK-th and the FAR_RANK-th nearest neighbour of each sampled sphere are. Each
// workgroup handles MEASURED spheres. Twin of `src/cpu/measure/spacing.rs`.

#import sample::{sampled}
#import scan_block::{sum_before}
#import spheres::{sphere_at}
#import types::{Params, Sampled, Sphere}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read_write> octaves: array<atomic<u32>, OCTAVES>;
@group(0) @binding(3) var<storage, read_write> samples: array<Sampled>;

// Half-way through the step, because spheres that fly apart or together are much denser
// at one end.
fn middle_of(sphere: Sphere) -> vec3<f32> {
    return sphere.center + sphere.velocity * (0.5 * params.dt);
}

// For each sampled sphere of the workgroup: its centre, the number of others in each
// octave, and log2 of the distances to its two neighbours.
var<workgroup> sh_middle: array<vec3<f32>, MEASURED>;
var<workgroup> sh_near: array<array<atomic<u32>, OCTAVES>, MEASURED>;
var<workgroup> sh_log_distance: array<array<f32, 2>, MEASURED>;

fn count_near(first: u32, own: u32, local: u32) {
    for (var other = local; other < params.sample; other += OCTAVES) {
        let middle = middle_of(sphere_at(sampled(other)));
        for (var k = 0u; k < own; k++) {
            if other != first + k {
                let apart = abs(middle - sh_middle[k]);
                atomicAdd(&sh_near[k][bitcast<u32>(max(max(apart.x, apart.y), apart.z)) >> 23u], 1u);
            }
        }
    }
}

// Each invocation handles one octave, with `near` neighbours in it and `before` below
// it, and writes a distance only if it is in this octave.
fn find_distances(k: u32, octave: u32, before: u32, near: u32) {
    let ranks = min(vec2<u32>(NEAR_RANK, FAR_RANK), vec2<u32>(params.sample - 1u));
    let until = before + near;
    // log2 of the growth of the number of neighbours over the octave: 3 in evenly
    // filled space.
    let growth = min(log2(f32(until) / max(f32(before), 0.125 * f32(until))), MAX_DIMENSION);
    let within = f32(octave) - 126.0 + log2(vec2<f32>(ranks) / f32(until)) / growth;
    if until >= ranks.x && before < ranks.x {
        sh_log_distance[k][0] = within.x;
    }
    if until >= ranks.y && before < ranks.y {
        sh_log_distance[k][1] = within.y;
    }
}

@compute @workgroup_size(OCTAVES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let first = (workgroup.x + workgroup.y * workgroups.x) * MEASURED;
    if first >= params.sample {
        return;
    }
    let own = min(MEASURED, params.sample - first);
    var sphere: Sphere;
    if local < own {
        sphere = sphere_at(sampled(first + local));
        sh_middle[local] = middle_of(sphere);
        sh_log_distance[local] = array<f32, 2>(128.0, 128.0);
    }
    workgroupBarrier();
    count_near(first, own, local);
    workgroupBarrier();
    var all = 0u;
    for (var k = 0u; k < own; k++) {
        let near = atomicLoad(&sh_near[k][local]);
        find_distances(k, local, sum_before(near, local), near);
        all += near;
    }
    if all > 0u {
        atomicAdd(&octaves[local], all);
    }
    workgroupBarrier();
    if local < own {
        let log_distance = vec2<f32>(sh_log_distance[local][0], sh_log_distance[local][1]);
        samples[first + local] =
            Sampled(log_distance, max(sphere.radius, 0.0), 0.0, sh_middle[local], sphere.velocity);
    }
}
