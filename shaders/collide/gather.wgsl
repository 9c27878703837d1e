// Copies both spheres of each grazing pair, so that the host can decide it exactly.

#import carom::{CaromCollision, CaromResults, carom_b, carom_is_grazing}
#import invocation::{invocation}
#import sphere_bits::{sphere_bits}
#import types::{Sphere}

// Twin of `Gathered` in `src/gpu/device/shader/layout.rs`.
struct Gathered {
    a: u32,
    b_and_grazing: u32,
    // The bits of centre, radius and velocity of both.
    values: array<array<u32, 7>, 2>,
}

@group(0) @binding(0) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(1) var<storage, read> pairs: array<CaromCollision>;
@group(0) @binding(2) var<storage, read> results: CaromResults;
@group(0) @binding(3) var<storage, read_write> gathered_count: atomic<u32>;
@group(0) @binding(4) var<storage, read_write> gathered: array<Gathered>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index >= results.pairs || !carom_is_grazing(pairs[index]) {
        return;
    }
    let place = atomicAdd(&gathered_count, 1u);
    if place >= arrayLength(&gathered) {
        return;
    }
    let pair = pairs[index];
    gathered[place].a = pair.a;
    gathered[place].b_and_grazing = pair.b_and_grazing;
    gathered[place].values[0] = sphere_bits(spheres[pair.a]);
    gathered[place].values[1] = sphere_bits(spheres[carom_b(pair) + results.b_offset]);
}
