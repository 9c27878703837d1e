// Makes the spheres for the candidate search of a substep. Each sphere is at rest and enlarged by its pad,
// which is an assumed bound on its displacement in the substep.

#import carom::{CaromSimulation, CaromWall}
#import dynamics::{Body, NEXT_NONE, SimulationRequest, Track}
#import dynamics_places::{place_at_wall}
#import dynamics_walls::{wall_gap}
#import groups::{ignore_each_other}
#import invocation::{invocation}
#import round_spheres::{cell_entry_of, head_of, mark_of}
#import types::{Sphere}

@group(0) @binding(0) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(1) var<uniform> simulation: CaromSimulation;
@group(0) @binding(2) var<uniform> simulation_walls: array<CaromWall, MOST_WALLS>;
@group(0) @binding(3) var<storage, read> bodies: array<Body>;
@group(0) @binding(4) var<storage, read_write> padded_spheres: array<Sphere>;
@group(0) @binding(5) var<storage, read_write> tracks: array<Track>;
@group(0) @binding(6) var<storage, read_write> round_spheres: array<atomic<u32>>;
// With meshes: 1 for each sphere that may touch the box around a mesh, and 0 for the others.
@group(0) @binding(7) var<storage, read_write> row_starts: array<u32>;

// Smallest ratio of a sphere's pad (the assumed bound on its displacement in a substep) to its
// displacement without impacts.
const PAD = 1.1;

// A factor that covers the rounding of a sphere's pad (the assumed bound on its displacement), and of its
// positions along a path.
const ROUNDED_UP = 1.0 + 1.0 / 1048576.0;

// Returns whether a sphere, enlarged by its pad, may touch the box around a mesh in the substep.
fn is_near_mesh(mesh: CaromWall, padded: Sphere) -> bool {
    let place = place_at_wall(mesh, padded.center);
    let aside = max(abs(place) - mesh.direction, vec3<f32>(0.0));
    let size = length(padded.center) + length(mesh.point) + length(mesh.direction) + length(place);
    return length(aside) <= padded.radius + length(mesh.velocity) * simulation.substep + 2e-6 * size;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if i >= simulation.spheres {
        return;
    }
    let body = bodies[i];
    var track = tracks[i];
    let duration = simulation.substep;
    let speed = max(max(PAD * length(body.velocity), simulation.pad_speed), track.wide);
    track.pad = speed * duration;
    track.count = 0u;
    track.found = 0u;
    track.next = NEXT_NONE;
    track.walls = 0u;
    var sphere = padded_spheres[i];
    var near = 0u;
    if body.radius >= 0.0 {
        let fallen = 0.5 * length(simulation_request.gravity) * duration * duration;
        let pad = track.pad + fallen;
        sphere.center = body.center;
        sphere.radius = (body.radius + pad) * ROUNDED_UP;
        if body.inverse_mass > 0.0 {
            for (var k = 0u; k < simulation_request.walls; k++) {
                let wall = simulation_walls[k];
                let gap = wall_gap(wall, place_at_wall(wall, body.center), body.radius);
                let size = max(max(abs(body.center.x), abs(body.center.y)), abs(body.center.z)) + abs(wall.size);
                let reach = pad + length(wall.velocity) * duration + 1e-6 * size;
                if gap <= reach * ROUNDED_UP && !ignore_each_other(sphere.groups, wall.groups) {
                    track.walls |= 1u << k;
                }
            }
            for (var k = simulation_request.walls; k < simulation_request.surfaces; k++) {
                track.walls |= 1u << k;
                if is_near_mesh(simulation_walls[k], sphere) {
                    near = 1u;
                }
            }
        }
    }
    padded_spheres[i] = sphere;
    tracks[i] = track;
    if simulation_request.surfaces > simulation_request.walls {
        row_starts[i] = near;
    }
    atomicStore(&round_spheres[mark_of(i)], 0u);
    atomicStore(&round_spheres[head_of(i)], NEXT_NONE);
    atomicStore(&round_spheres[cell_entry_of(i)], 0u);
}
