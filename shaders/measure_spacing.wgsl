// Counts the pairs of a sample of the spheres by distance, and tells of each
// how far its neighbours are. One workgroup a sphere of the sample; its
// invocations share out the others, and then have an octave each.
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

var<workgroup> sh_near: array<atomic<u32>, OCTAVES>;
var<workgroup> sh_log_distance: array<f32, 2>;

@compute @workgroup_size(OCTAVES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let k = workgroup.x + workgroup.y * workgroups.x;
    if k >= params.sample {
        return;
    }
    let sphere = sphere_at(sampled(k));
    let own = middle_of(sphere);
    for (var other = local; other < params.sample; other += OCTAVES) {
        if other != k {
            let apart = abs(middle_of(sphere_at(sampled(other))) - own);
            atomicAdd(&sh_near[bitcast<u32>(max(max(apart.x, apart.y), apart.z)) >> 23u], 1u);
        }
    }
    if local < 2u {
        sh_log_distance[local] = 128.0;
    }
    workgroupBarrier();
    let near = atomicLoad(&sh_near[local]);
    let before = sum_before(near, local);
    let until = before + near;
    let ranks = min(vec2<u32>(NEAREST, NEXT_NEAREST), vec2<u32>(params.sample - 1u));
    if near > 0u {
        atomicAdd(&octaves[local], near);
        // As if they filled space no more than evenly.
        let growth = min(log2(f32(until) / max(f32(before), 0.125 * f32(until))), 3.0);
        let within = f32(local) - 126.0 + log2(vec2<f32>(ranks) / f32(until)) / growth;
        // Only one octave has the rank.
        if until >= ranks.x && before < ranks.x {
            sh_log_distance[0] = within.x;
        }
        if until >= ranks.y && before < ranks.y {
            sh_log_distance[1] = within.y;
        }
    }
    workgroupBarrier();
    if local == 0u {
        let log_distance = vec2<f32>(sh_log_distance[0], sh_log_distance[1]);
        samples[k] = Sampled(log_distance, max(sphere.radius, 0.0), 0.0, own, sphere.velocity);
    }
}
