// Copies the padded spheres near meshes to the first set of the search for spheres near triangles. For each sphere,
// `row_starts` has the number of spheres near meshes that come before
// it.

#import carom::{CaromSimulation}
#import invocation::{invocation}
#import searched_spheres::{count_searched, searched}
#import types::{Counters, Sphere}

@group(0) @binding(0) var<uniform> simulation: CaromSimulation;
@group(0) @binding(1) var<storage, read> row_starts: array<u32>;
@group(0) @binding(2) var<storage, read> padded_spheres: array<Sphere>;
@group(0) @binding(3) var<storage, read_write> spheres: array<Sphere>;
// For each sphere near meshes, its index among all spheres.
@group(0) @binding(4) var<storage, read_write> near_numbers: array<u32>;
@group(0) @binding(5) var<storage, read_write> counters: Counters;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if i < simulation.spheres && row_starts[i + 1u] > row_starts[i] {
        spheres[row_starts[i]] = searched(padded_spheres[i]);
        near_numbers[row_starts[i]] = i;
    }
    count_searched(local);
}
