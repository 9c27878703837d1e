// The inputs of both spheres beside each pair, for the host to decide on: 16 words a
// pair, as `Gathered` in `src/gpu/step.rs` has them.

@group(0) @binding(0) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(1) var<storage, read> pairs: array<CaromCollision>;
@group(0) @binding(2) var<storage, read> results: CaromResults;
@group(0) @binding(3) var<storage, read_write> gathered: array<u32>;

fn put(at: u32, sphere: Sphere) {
    for (var axis = 0u; axis < 3u; axis++) {
        gathered[at + axis] = bitcast<u32>(sphere.center[axis]);
        gathered[at + 4u + axis] = bitcast<u32>(sphere.velocity[axis]);
    }
    gathered[at + 3u] = bitcast<u32>(sphere.radius);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if i >= min(results.pairs, arrayLength(&gathered) / 16u) {
        return;
    }
    let pair = pairs[i];
    gathered[16u * i] = pair.a;
    gathered[16u * i + 1u] = pair.b_and_grazing;
    put(16u * i + 2u, spheres[pair.a]);
    put(16u * i + 9u, spheres[carom_b(pair) + results.split]);
}
