// Counts the triangles that a sphere may meet in a substep of hard-sphere dynamics among the candidates of the sphere,
// after those that `simulation_candidates.wgsl` has counted. `simulation_fill.wgsl` lists them.

#import carom::{CaromCollision, CaromResults, CaromSimulation, CaromWall, carom_b, carom_image}
#import dynamics::{Body, Candidate, MeshTriangle, NEXT_NONE, SimulationRequest}
#import dynamics_triangles::{beside_triangle}
#import image_word::{pack_image}
#import invocation::{invocation}
#import opaque::{opaque3}
#import sum::{Sum, add}
#import types::{Params, Sphere}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(2) var<uniform> simulation: CaromSimulation;
@group(0) @binding(3) var<uniform> simulation_walls: array<CaromWall, MOST_WALLS>;
@group(0) @binding(4) var<storage, read> mesh_results: CaromResults;
@group(0) @binding(5) var<storage, read> mesh_pairs: array<CaromCollision>;
@group(0) @binding(6) var<storage, read> mesh_images: array<u32>;
@group(0) @binding(7) var<storage, read> simulation_triangles: array<MeshTriangle>;
@group(0) @binding(8) var<storage, read> bodies: array<Body>;
@group(0) @binding(9) var<storage, read> padded_spheres: array<Sphere>;
@group(0) @binding(10) var<storage, read_write> candidates: array<Candidate>;
@group(0) @binding(11) var<storage, read_write> row_starts: array<atomic<u32>>;

// Returns the vector from corner a of an image of a triangle to a sphere. The rounding errors of the sum are added to
// it.
fn apart(sphere: u32, triangle: MeshTriangle, word: u32) -> vec3<f32> {
    var sum = Sum(bodies[sphere].center, vec3<f32>(0.0));
    sum = add(sum, -triangle.a);
    sum = add(sum, -simulation_walls[triangle.mesh].point);
    if simulation_request.periodic != 0u {
        let image = vec3<f32>(-carom_image(word));
        sum = add(sum, opaque3(simulation_request.edges[0].xyz * image.x));
        sum = add(sum, opaque3(simulation_request.edges[1].xyz * image.y));
        sum = add(sum, opaque3(simulation_request.edges[2].xyz * image.z));
    }
    return sum.rounded + sum.errors;
}

// Returns whether a sphere may meet a triangle in the substep. A sphere of infinite mass passes through walls.
fn may_meet(sphere: u32, triangle: MeshTriangle, place: vec3<f32>) -> bool {
    let padded = padded_spheres[sphere];
    let mesh = simulation_walls[triangle.mesh];
    let gap = length(beside_triangle(triangle, place)) - padded.radius;
    let size = length(padded.center) + length(triangle.a) + length(mesh.point);
    let reach = length(mesh.velocity) * simulation.substep + 2e-6 * size;
    return bodies[sphere].inverse_mass > 0.0 && gap <= reach;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index >= mesh_results.pairs {
        return;
    }
    let sphere = mesh_pairs[index].a;
    let number = carom_b(mesh_pairs[index]);
    let triangle = simulation_triangles[number];
    var image = pack_image(vec3<i32>(0));
    if simulation_request.periodic != 0u {
        image = mesh_images[index];
    }
    var near = Candidate(apart(sphere, triangle, image), sphere, number, image, NEXT_NONE, triangle.mesh);
    if may_meet(sphere, triangle, near.apart) {
        near.place_a = atomicAdd(&row_starts[sphere], 1u);
    }
    candidates[simulation_request.near_capacity + index] = near;
}
