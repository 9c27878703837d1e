// Adds the triangles that a sphere may meet in a substep of hard-sphere dynamics to the candidates of the sphere. The
// kernels `count` and `fill` work like those of `simulation_candidates.wgsl`, on the same rows.

#import carom::{CaromCollision, CaromResults, CaromSimulation, CaromWall, carom_b}
#import dynamics::{Body, MeshTriangle, NEXT_NONE, NEXT_TRIANGLE}
#import dynamics_places::{place_at_wall}
#import dynamics_triangles::{beside_triangle, wall_at_triangle}
#import invocation::{invocation}
#import types::{Sphere}

@group(0) @binding(0) var<uniform> simulation: CaromSimulation;
@group(0) @binding(1) var<uniform> simulation_walls: array<CaromWall, MOST_WALLS>;
@group(0) @binding(2) var<storage, read> mesh_results: CaromResults;
@group(0) @binding(3) var<storage, read> mesh_pairs: array<CaromCollision>;
@group(0) @binding(4) var<storage, read> simulation_triangles: array<MeshTriangle>;
@group(0) @binding(5) var<storage, read> bodies: array<Body>;
@group(0) @binding(6) var<storage, read> padded_spheres: array<Sphere>;
@group(0) @binding(7) var<storage, read_write> row_starts: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> row_entries: array<u32>;
// For each pair of a sphere and a triangle's bounding sphere: the place of the triangle in the sphere's row,
// which lists all triangles that the sphere may meet. NEXT_NONE if the sphere does not meet the triangle.
@group(0) @binding(9) var<storage, read_write> triangle_places: array<u32>;

// Returns whether a sphere may meet a triangle in the substep. A sphere of infinite mass passes through walls.
fn may_meet(sphere: u32, number: u32) -> bool {
    let padded = padded_spheres[sphere];
    let triangle = simulation_triangles[number];
    let mesh = wall_at_triangle(triangle, simulation_walls[triangle.mesh]);
    let gap = length(beside_triangle(triangle, place_at_wall(mesh, padded.center))) - padded.radius;
    let size = length(padded.center) + length(triangle.a);
    let reach = length(mesh.velocity) * simulation.substep + 2e-6 * size;
    return bodies[sphere].inverse_mass > 0.0 && gap <= reach;
}

@compute @workgroup_size(WORKGROUP)
fn count(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index >= mesh_results.pairs {
        return;
    }
    let sphere = mesh_pairs[index].a;
    var place = NEXT_NONE;
    if may_meet(sphere, carom_b(mesh_pairs[index])) {
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
    if index >= mesh_results.pairs {
        return;
    }
    let place = triangle_places[index];
    if place != NEXT_NONE {
        let triangle = carom_b(mesh_pairs[index]);
        row_entries[atomicLoad(&row_starts[mesh_pairs[index].a]) + place] = NEXT_TRIANGLE + triangle;
    }
}
