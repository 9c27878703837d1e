// Counts the triangles that each sphere may meet in a substep of hard-sphere dynamics. It adds them to
// each sphere's number of candidates, in which `simulation_candidates.wgsl` has counted the other
// spheres that the sphere may meet. Later, `simulation_fill.wgsl` lists all candidates.

#import carom::{CaromCollision, CaromResults, CaromSimulation, CaromWall, carom_b}
#import dynamics::{Candidate, MeshTriangle, NEXT_NONE, SimulationRequest}
#import image_word::{pack_image}
#import invocation::{invocation}
#import near_triangles::{may_meet, place_at_triangle}
#import types::{Params, Sphere}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(2) var<uniform> simulation: CaromSimulation;
@group(0) @binding(3) var<uniform> simulation_walls: array<CaromWall, MOST_WALLS>;
@group(0) @binding(4) var<storage, read> mesh_results: CaromResults;
@group(0) @binding(5) var<storage, read> mesh_pairs: array<CaromCollision>;
@group(0) @binding(6) var<storage, read> mesh_images: array<u32>;
@group(0) @binding(7) var<storage, read> simulation_triangles: array<MeshTriangle>;
@group(0) @binding(8) var<storage, read> near_numbers: array<u32>;
@group(0) @binding(9) var<storage, read> padded_spheres: array<Sphere>;
@group(0) @binding(10) var<storage, read_write> candidates: array<Candidate>;
@group(0) @binding(11) var<storage, read_write> row_starts: array<atomic<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index >= select(mesh_results.pairs, 0u, simulation.spheres == 0u) {
        return;
    }
    let sphere = near_numbers[mesh_pairs[index].a];
    let number = carom_b(mesh_pairs[index]);
    let triangle = simulation_triangles[number];
    let mesh = simulation_walls[triangle.mesh];
    var image = pack_image(vec3<i32>(0));
    if simulation_request.periodic != 0u {
        image = mesh_images[index];
    }
    let padded = padded_spheres[sphere];
    let place = place_at_triangle(padded.center, triangle, mesh, image);
    var near = Candidate(place, sphere, number, image, NEXT_NONE, triangle.mesh);
    if may_meet(triangle, mesh, padded, place) {
        near.place_a = atomicAdd(&row_starts[sphere], 1u);
    }
    candidates[simulation_request.near_capacity + index] = near;
}
