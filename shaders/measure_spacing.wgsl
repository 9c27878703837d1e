// Counts the pairs of a sample of the spheres by distance, and tells of each
// how far its neighbours are. A workgroup has MEASURED of them; its invocations
// share out the others, and then have an octave each.
// Twin of `src/cpu/measure.rs`.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read_write> octaves: array<atomic<u32>, OCTAVES>;
@group(0) @binding(3) var<storage, read_write> samples: array<Sampled>;

// Where the stretch of the input begins out of which the sphere number k of the
// sample is: floor(k * spheres / sample), with no overflow.
fn begin(k: u32) -> u32 {
    return k * (params.spheres / params.sample) + k * (params.spheres % params.sample) / params.sample;
}

// One of each stretch, which one by chance, so that no regular order shows; not
// one set aside, where there is another close by.
fn sampled(k: u32) -> u32 {
    var chance = k * 0x9e3779b1u;
    chance = (chance ^ (chance >> 15u)) * 0x85ebca77u;
    chance ^= chance >> 13u;
    let stretch = begin(k + 1u) - begin(k);
    var i = begin(k) + chance % stretch;
    for (var tries = 0u; tries < 16u && spheres[i].radius < 0.0; tries++) {
        chance++;
        i = begin(k) + chance % stretch;
    }
    return i;
}

// Where it is half way through the step: neither before a burst nor after a
// crush.
fn middle_of(sphere: Sphere) -> vec3<f32> {
    return sphere.center + sphere.velocity * (0.5 * params.dt);
}

var<workgroup> sh_middle: array<vec3<f32>, MEASURED>;
var<workgroup> sh_near: array<array<atomic<u32>, OCTAVES>, MEASURED>;
var<workgroup> sh_log_distance: array<array<f32, 2>, MEASURED>;

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
    for (var other = local; other < params.sample; other += OCTAVES) {
        let middle = middle_of(sphere_at(sampled(other)));
        for (var k = 0u; k < own; k++) {
            if other != first + k {
                let apart = abs(middle - sh_middle[k]);
                atomicAdd(&sh_near[k][bitcast<u32>(max(max(apart.x, apart.y), apart.z)) >> 23u], 1u);
            }
        }
    }
    workgroupBarrier();
    let ranks = min(vec2<u32>(NEAREST, NEXT_NEAREST), vec2<u32>(params.sample - 1u));
    var all = 0u;
    for (var k = 0u; k < own; k++) {
        let near = atomicLoad(&sh_near[k][local]);
        let before = sum_before(near, local);
        let until = before + near;
        all += near;
        // As if they filled space no more than evenly.
        let growth = min(log2(f32(until) / max(f32(before), 0.125 * f32(until))), 3.0);
        let within = f32(local) - 126.0 + log2(vec2<f32>(ranks) / f32(until)) / growth;
        // Only one octave has the rank.
        if until >= ranks.x && before < ranks.x {
            sh_log_distance[k][0] = within.x;
        }
        if until >= ranks.y && before < ranks.y {
            sh_log_distance[k][1] = within.y;
        }
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
