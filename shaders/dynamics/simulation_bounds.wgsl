// Moves the bounding spheres of triangles to the start of a substep of hard-sphere dynamics, and enlarges them by the
// displacement of the meshes in the substep. They are the second set of the search for spheres near triangles, after the
// spheres near meshes.

#import carom::{CaromSimulation, CaromWall}
#import dynamics::{MeshTriangle}
#import invocation::{invocation}
#import searched_spheres::{count_searched, searched}
#import types::{Counters, Sphere}

@group(0) @binding(0) var<uniform> simulation: CaromSimulation;
// The bounding spheres of the triangles of meshes, at time 0 of the simulation.
@group(0) @binding(1) var<storage, read> triangle_bounds: array<Sphere>;
@group(0) @binding(2) var<storage, read_write> spheres: array<Sphere>;
@group(0) @binding(3) var<uniform> simulation_walls: array<CaromWall, MOST_WALLS>;
@group(0) @binding(4) var<storage, read> simulation_triangles: array<MeshTriangle>;
// The number of spheres near meshes is in the element after those of all spheres.
@group(0) @binding(5) var<storage, read> row_starts: array<u32>;
@group(0) @binding(6) var<storage, read_write> counters: Counters;

fn moved_bound(i: u32) -> Sphere {
    let bound = triangle_bounds[i];
    let mesh = simulation_walls[simulation_triangles[i].mesh];
    let moved = mesh.point;
    // The margin 1e-6 * size covers the rounding error of the bounding sphere's centre, which moves with
    // its mesh.
    let size = length(bound.center) + length(moved);
    let radius = bound.radius + length(mesh.velocity) * simulation.substep + 1e-6 * size;
    return Sphere(bound.center + moved, min(radius, MAX_MAGNITUDE), vec3<f32>(0.0), bound.groups);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if i < arrayLength(&triangle_bounds) {
        spheres[row_starts[simulation.spheres] + i] = searched(moved_bound(i));
    }
    count_searched(local);
}
