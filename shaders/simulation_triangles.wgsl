// Adds the triangles that a sphere may meet in a substep of hard-sphere dynamics to the candidates of the sphere. The
// kernels `count` and `fill` work like those of `simulation_candidates.wgsl`, on the same rows.

#import carom::{CaromCollision, CaromResults, CaromSimulation, CaromWall, carom_b}
#import dynamics::{MeshTriangle, NEXT_NONE, NEXT_TRIANGLE}
#import dynamics_triangles::{may_meet}
#import invocation::{invocation}
#import types::{Sphere}

@group(0) @binding(0) var<uniform> simulation: CaromSimulation;
@group(0) @binding(1) var<uniform> simulation_walls: array<CaromWall, MOST_WALLS>;
@group(0) @binding(2) var<storage, read> mesh_results: CaromResults;
@group(0) @binding(3) var<storage, read> mesh_pairs: array<CaromCollision>;
@group(0) @binding(4) var<storage, read> simulation_triangles: array<MeshTriangle>;
@group(0) @binding(5) var<storage, read> near_numbers: array<u32>;
@group(0) @binding(6) var<storage, read> padded_spheres: array<Sphere>;
@group(0) @binding(7) var<storage, read_write> row_starts: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> row_entries: array<u32>;
// For each pair of a sphere and a triangle's bounding sphere, the place of the triangle among those that the sphere
// may meet, or NEXT_NONE if the sphere does not meet the triangle.
@group(0) @binding(9) var<storage, read_write> triangle_places: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn count(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if simulation.spheres == 0u || index >= mesh_results.pairs {
        return;
    }
    let sphere = near_numbers[mesh_pairs[index].a];
    let triangle = simulation_triangles[carom_b(mesh_pairs[index])];
    let mesh = simulation_walls[triangle.mesh];
    var place = NEXT_NONE;
    if may_meet(triangle, mesh, padded_spheres[sphere]) {
        place = atomicAdd(&row_starts[sphere], 1u);
    }
    triangle_places[index] = place;
}

@compute @workgroup_size(WORKGROUP)
fn fill(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if simulation.spheres == 0u || index >= mesh_results.pairs {
        return;
    }
    let place = triangle_places[index];
    if place != NEXT_NONE {
        let triangle = carom_b(mesh_pairs[index]);
        row_entries[atomicLoad(&row_starts[near_numbers[mesh_pairs[index].a]]) + place] = NEXT_TRIANGLE + triangle;
    }
}
