// Finds triangles that a sphere may meet because it has moved farther than its pad. A triangle that is
// found twice does no harm.

#import carom::{CaromSimulation, CaromWall}
#import dynamics::{Candidate, MeshTriangle, SimulationRequest}
#import further_candidates::{add_near, left_count}
#import groups::{ignore_each_other}
#import image_word::{pack_image}
#import invocation::{invocation}
#import near_triangles::{may_meet, place_at_triangle}
#import types::{Params, Sphere}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(2) var<uniform> simulation: CaromSimulation;
@group(0) @binding(3) var<uniform> simulation_walls: array<CaromWall, MOST_WALLS>;
@group(0) @binding(4) var<storage, read> simulation_triangles: array<MeshTriangle>;
@group(0) @binding(5) var<storage, read> padded_spheres: array<Sphere>;
@group(0) @binding(6) var<storage, read> left_spheres: array<u32>;
@group(0) @binding(7) var<storage, read_write> candidates: array<Candidate>;
@group(0) @binding(8) var<storage, read_write> round_spheres: array<atomic<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let number = invocation(workgroup, workgroups, local, WORKGROUP);
    if number >= select(0u, simulation_request.triangles, simulation.settled == 1u) {
        return;
    }
    let triangle = simulation_triangles[number];
    let mesh = simulation_walls[triangle.mesh];
    // A sphere gets a wider pad only in open space. There, a triangle has no periodic copies, so its
    // image is always 0.
    let image = pack_image(vec3<i32>(0));
    for (var k = 0u; k < left_count(); k++) {
        let left = left_spheres[2u + k];
        let padded = padded_spheres[left];
        let place = place_at_triangle(padded.center, triangle, mesh, image);
        if may_meet(triangle, mesh, padded, place) && !ignore_each_other(padded.groups, mesh.groups) {
            add_near(Candidate(place, left, number, image, 0u, triangle.mesh));
        }
    }
}
