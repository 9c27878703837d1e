// Computes the vector and the distance of each entry of a neighbour list, from the positions of this step.

#import carom::{CaromNeighbor, CaromResults, carom_image}
#import invocation::{invocation}
#import neighbors::{NeighborRequest}
#import opaque::{opaque3}
#import sum::{Sum, add}
#import types::{Params, Sphere}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> neighbor_request: NeighborRequest;
@group(0) @binding(2) var<storage, read> results: CaromResults;
@group(0) @binding(3) var<storage, read> given_spheres: array<Sphere>;
@group(0) @binding(4) var<storage, read> neighbors: array<CaromNeighbor>;
@group(0) @binding(5) var<storage, read_write> neighbor_vectors: array<vec4<f32>>;

// Near opposite faces of the cell, the terms nearly cancel. So the rounding errors of
// the sum are added.
fn vector_of(entry: CaromNeighbor) -> vec3<f32> {
    var sum = Sum(given_spheres[entry.j].center, vec3<f32>(0.0));
    sum = add(sum, -given_spheres[entry.i].center);
    if neighbor_request.periodic != 0u {
        let image = vec3<f32>(carom_image(entry.image));
        sum = add(sum, opaque3(neighbor_request.edges[0].xyz * image.x));
        sum = add(sum, opaque3(neighbor_request.edges[1].xyz * image.y));
        sum = add(sum, opaque3(neighbor_request.edges[2].xyz * image.z));
    }
    return sum.rounded + sum.errors;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index >= results.neighbors {
        return;
    }
    let vector = vector_of(neighbors[index]);
    // So that no square overflows or underflows.
    let longest = max(max(abs(vector.x), abs(vector.y)), abs(vector.z));
    let length = longest * length(vector / max(longest, bitcast<f32>(0x00800000u)));
    neighbor_vectors[index] = vec4<f32>(vector, length);
}
