// Makes the spheres that stand for the particles of a new neighbour list: two of them touch if their
// particles are neighbours.

#import invocation::{invocation}
#import neighbors::{NeighborRequest, padded_radius}
#import types::{Counters, Params, Sphere}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> neighbor_request: NeighborRequest;
@group(0) @binding(2) var<storage, read> given_spheres: array<Sphere>;
@group(0) @binding(3) var<storage, read_write> spheres: array<Sphere>;
@group(0) @binding(4) var<storage, read_write> counters: Counters;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index >= params.spheres {
        return;
    }
    var sphere = given_spheres[index];
    sphere.radius = padded_radius(sphere.radius);
    if sphere.radius > MAX_MAGNITUDE {
        // The padding has enlarged the radius beyond the allowed range:
        // invalid, as in `load_spheres`.
        sphere = Sphere(vec3<f32>(0.0), -1.0, vec3<f32>(0.0), 0u);
        let place = atomicAdd(&counters.invalid, 1u);
        if place < INVALID_LISTED {
            atomicStore(&counters.invalid_index[place], index);
        }
    }
    spheres[index] = sphere;
}
