// Counts the pairs of a sample of the spheres by distance, and finds a box that
// holds most of them.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read_write> octaves: array<atomic<u32>, OCTAVES>;
@group(0) @binding(3) var<storage, read_write> space: Space;

var<workgroup> sh_pairs: array<atomic<u32>, OCTAVES>;

// floor(i * spheres / sample), with no overflow.
fn sampled(i: u32) -> vec3<f32> {
    let whole = params.spheres / params.sample;
    let rest = params.spheres % params.sample;
    return spheres[i * whole + i * rest / params.sample].center;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = gid.x;
    if i < params.sample {
        let own = sampled(i);
        // How many come before it along each axis.
        var rank = vec3<u32>(0u);
        for (var j = 0u; j < params.sample; j++) {
            let other = sampled(j);
            let before = select(other < own, other <= own, vec3<bool>(j < i));
            rank += select(vec3<u32>(0u), vec3<u32>(1u), before);
            let apart = abs(other - own);
            if j != i {
                atomicAdd(&sh_pairs[bitcast<u32>(max(max(apart.x, apart.y), apart.z)) >> 23u], 1u);
            }
        }
        let out = params.sample / TRIM;
        let last = params.sample - 1u - out;
        for (var axis = 0u; axis < 3u; axis++) {
            if rank[axis] == out {
                space.trimmed_low[axis] = own[axis];
            }
            if rank[axis] == last {
                space.trimmed_high[axis] = own[axis];
            }
        }
    }
    workgroupBarrier();
    for (var octave = local; octave < OCTAVES; octave += 64u) {
        let pairs = atomicLoad(&sh_pairs[octave]);
        if pairs > 0u {
            atomicAdd(&octaves[octave], pairs);
        }
    }
}
