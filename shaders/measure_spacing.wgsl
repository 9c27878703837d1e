// Counts how many pairs of sampled spheres have distances in each octave (factor of 2). Also estimates how
// far each sampled sphere is from its NEAR_RANK-th and its FAR_RANK-th nearest sampled neighbour. Each
// workgroup handles MEASURED sampled spheres. Twin of `src/cpu/measure/spacing.rs`.

#import sample::{sampled}
#import scan_block::{sum_before}
#import spheres::{sphere_at}
#import types::{Params, Sampled, Sphere}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read_write> octaves: array<atomic<u32>, OCTAVES>;
@group(0) @binding(3) var<storage, read_write> samples: array<Sampled>;

// Returns the centre of a sphere half-way through the step. It stands for the whole step, because spheres
// that fly apart or together are much denser at its start or end.
fn middle_of(sphere: Sphere) -> vec3<f32> {
    return sphere.center + sphere.velocity * (0.5 * params.dt);
}

// Three arrays with an entry for each sampled sphere of the workgroup. The first has its centre half-way
// through the step. The second has the number of other sampled spheres in each octave of distance. The third
// has log2 of the distances to its NEAR_RANK-th and FAR_RANK-th nearest neighbours.
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

// Computes log2 of the distances from sphere k of the workgroup to its NEAR_RANK-th and FAR_RANK-th
// nearest neighbours in the sample. Each invocation handles one octave (range of distances whose ends
// differ by a factor of 2), and writes a distance only if it is in this octave. `near` is the number of
// neighbours of the sphere in the octave, and `before` the number of its neighbours at shorter
// distances.
fn find_distances(k: u32, octave: u32, before: u32, near: u32) {
    let ranks = min(vec2<u32>(NEAR_RANK, FAR_RANK), vec2<u32>(params.sample - 1u));
    let until = before + near;
    // log2 of the factor by which the number of neighbours of sphere k grows from the lower to the upper
    // end of the octave, where the distance doubles. If spheres fill space evenly, the number of
    // neighbours grows by a factor of 8, and its log2 is 3 (MAX_DIMENSION).
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
    // Any invocation may have written the distances to neighbours. This barrier makes them visible to all.
    workgroupBarrier();
    if local < own {
        let log_distance = vec2<f32>(sh_log_distance[local][0], sh_log_distance[local][1]);
        samples[first + local] =
            Sampled(log_distance, max(sphere.radius, 0.0), 0.0, sh_middle[local], sphere.velocity);
    }
}
