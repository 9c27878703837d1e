// Counts the pairs of the sample whose distance is in each octave (factor of 2). Also estimates how far each
// sampled sphere is from its NEAR_RANK-th and its FAR_RANK-th nearest neighbour in the sample. Each workgroup
// handles MEASURED sampled spheres. Twin of `src/cpu/measure/spacing.rs`.

#import sample::{sampled}
#import scan_block::{sum_before}
#import spheres::{sphere_at}
#import types::{Params, Sampled, Sphere}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read_write> octaves: array<atomic<u32>, OCTAVES>;
@group(0) @binding(3) var<storage, read_write> samples: array<Sampled>;

// Returns the centre half-way through the step. It stands for the whole step, because spheres that fly apart
// or together are much denser at its start or end.
fn middle_of(sphere: Sphere) -> vec3<f32> {
    return sphere.center + sphere.velocity * (0.5 * params.dt);
}

// For each sampled sphere of the workgroup: its centre half-way through the step, the number of other sampled
// spheres in each octave of distance, and log2 of the distances to its two neighbours.
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

// Computes log2 of the distances from sphere k of the workgroup to its two neighbours. Each invocation
// handles one octave, and writes a distance only if it is in this octave. `near` is the number of neighbours
// in the octave, and `before` the number at shorter distances.
fn find_distances(k: u32, octave: u32, before: u32, near: u32) {
    let ranks = min(vec2<u32>(NEAR_RANK, FAR_RANK), vec2<u32>(params.sample - 1u));
    let until = before + near;
    // log2 of the factor by which the number of neighbours grows from the lower to the upper end of the
    // octave: 3 (MAX_DIMENSION) if spheres fill space evenly.
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
