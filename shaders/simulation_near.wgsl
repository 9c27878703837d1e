// Copies the spheres near meshes, so that the search for triangles has only these. `row_starts` has for each sphere the
// number of such spheres before it.

#import carom::{CaromSimulation}
#import invocation::{invocation}
#import types::{Sphere}

@group(0) @binding(0) var<uniform> simulation: CaromSimulation;
@group(0) @binding(1) var<storage, read> row_starts: array<u32>;
@group(0) @binding(2) var<storage, read> padded_spheres: array<Sphere>;
@group(0) @binding(3) var<storage, read_write> near_spheres: array<Sphere>;
// The index of each of these spheres among all spheres.
@group(0) @binding(4) var<storage, read_write> near_numbers: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if i < simulation.spheres && row_starts[i + 1u] > row_starts[i] {
        near_spheres[row_starts[i]] = padded_spheres[i];
        near_numbers[row_starts[i]] = i;
    }
}
