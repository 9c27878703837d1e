// Counts the pairs of a sample of the spheres by distance, and tells of each
// how far its neighbours are.
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
fn middle_of(k: u32) -> vec3<f32> {
    let sphere = sphere_at(sampled(k));
    return sphere.center + sphere.velocity * (0.5 * params.dt);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
    let k = gid.x;
    if k >= params.sample {
        return;
    }
    let own = middle_of(k);
    var near: array<u32, OCTAVES>;
    for (var other = 0u; other < params.sample; other++) {
        if other != k {
            let apart = abs(middle_of(other) - own);
            near[bitcast<u32>(max(max(apart.x, apart.y), apart.z)) >> 23u]++;
        }
    }
    var before = 0u;
    var log_distance = vec2<f32>(128.0);
    let ranks = min(vec2<u32>(NEAREST, NEXT_NEAREST), vec2<u32>(params.sample - 1u));
    for (var octave = 0u; octave < OCTAVES; octave++) {
        let until = before + near[octave];
        if until > before {
            atomicAdd(&octaves[octave], near[octave]);
            // As if they filled space no more than evenly.
            let growth = min(log2(f32(until) / max(f32(before), 0.125 * f32(until))), 3.0);
            let within = f32(octave) - 126.0 + log2(vec2<f32>(ranks) / f32(until)) / growth;
            log_distance = select(log_distance, within, (vec2<u32>(until) >= ranks) & (vec2<u32>(before) < ranks));
        }
        before = until;
    }
    let sphere = sphere_at(sampled(k));
    samples[k] = Sampled(log_distance, max(sphere.radius, 0.0), 0.0, own, sphere.velocity);
}
