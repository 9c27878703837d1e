// Adds the impacts of a complete substep of hard-sphere dynamics to the list of impacts. Their order varies from run to
// run.

#import carom::{CAROM_WALL, CaromImpact, CaromSimulation, CaromWall, carom_image}
#import dynamics::{Body, Candidate, NEXT_TRIANGLE, NEXT_WALL, PathPiece, SimulationCounters, SimulationRequest, Track}
#import dynamics_places::{image_of_code, place_at_wall, shift_of, wall_of_code}
#import dynamics_walls::{at_wall, is_hollow}
#import encounter::{direction, pair_motion, wall_motion}
#import image_word::{pack_image}
#import invocation::{invocation}
#import paths::{path_piece}
#import rests::{change_between, is_held, link_of}
#import two_floats::{add_float}
#import types::{Params}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(2) var<uniform> simulation: CaromSimulation;
@group(0) @binding(3) var<uniform> simulation_walls: array<CaromWall, MOST_WALLS>;
@group(0) @binding(4) var<storage, read> bodies: array<Body>;
@group(0) @binding(5) var<storage, read> pieces: array<PathPiece>;
@group(0) @binding(6) var<storage, read> candidates: array<Candidate>;
@group(0) @binding(7) var<storage, read> tracks: array<Track>;
@group(0) @binding(8) var<storage, read_write> simulation_counters: SimulationCounters;
@group(0) @binding(9) var<storage, read_write> impacts: array<CaromImpact>;

// Returns the contact point on the surface of a sphere, at the beginning of a piece of its path. `normal` is the unit
// vector from its centre to the contact point.
fn contact_point(sphere: u32, piece: PathPiece, normal: vec3<f32>) -> vec3<f32> {
    let body = bodies[sphere];
    let falls = f32(!is_held(sphere, piece));
    let fallen = simulation_request.gravity * (0.5 * piece.start * piece.start * falls);
    return body.center + piece.place + fallen + normal * body.radius;
}

// Returns an impact of two spheres, without its time, as an entry for the list of impacts. The impact is the
// one with which piece `number` of the path of sphere a begins.
fn impact_of_pair(pair: Candidate, number: u32) -> CaromImpact {
    let before = path_piece(pair.a, number - 1u);
    let after = path_piece(pair.a, number);
    let number_b = link_of(after) % MOST_IMPACTS + 1u;
    let other = path_piece(pair.b, number_b - 1u);
    let other_after = path_piece(pair.b, number_b);
    var impact: CaromImpact;
    impact.a = pair.a;
    impact.b = pair.b;
    impact.normal = direction(pair_motion(pair, before, other, after.start).place);
    // The velocity of the lighter sphere changes more, so its change has more correct digits.
    let inverse_a = bodies[pair.a].inverse_mass;
    let inverse_b = bodies[pair.b].inverse_mass;
    if inverse_a >= inverse_b {
        impact.impulse = -change_between(pair.a, before, after) / inverse_a;
    } else {
        impact.impulse = change_between(pair.b, other, other_after) / inverse_b;
    }
    impact.image = pair.image;
    impact.point = contact_point(pair.a, after, impact.normal);
    return impact;
}

fn impact_at_wall(sphere: u32, number: u32) -> CaromImpact {
    let before = path_piece(sphere, number - 1u);
    let after = path_piece(sphere, number);
    let change = change_between(sphere, before, after);
    var image: vec3<i32>;
    var impact: CaromImpact;
    impact.a = sphere;
    impact.normal = -direction(change);
    if link_of(after) >= NEXT_TRIANGLE {
        let near = candidates[simulation_request.near_capacity + link_of(after) - NEXT_TRIANGLE];
        impact.b = CAROM_WALL + simulation_request.walls + near.b;
        // `near.image` names the image of a triangle that the sphere itself hits. The
        // list of impacts instead names the image of the sphere that hits the original triangle. The
        // displacements of these two images are opposite.
        image = -carom_image(near.image);
    } else {
        let number = wall_of_code(link_of(after) - NEXT_WALL);
        impact.b = CAROM_WALL + number;
        image = image_of_code(link_of(after) - NEXT_WALL);
        let wall = simulation_walls[number];
        if is_hollow(wall) {
            // If a hollow wall turns a sphere, the change of its velocity is not parallel to the normal. So the
            // normal is computed from the place of the sphere.
            let place = place_at_wall(wall, bodies[sphere].center) + shift_of(image);
            impact.normal = direction(at_wall(wall, wall_motion(wall.velocity, place, before, after.start)).place);
        }
    }
    impact.impulse = change / -bodies[sphere].inverse_mass;
    impact.image = pack_image(image);
    impact.point = contact_point(sphere, after, impact.normal) + shift_of(image);
    return impact;
}

fn list(sphere: u32) {
    let count = tracks[sphere].count;
    for (var number = 1u; number <= count; number++) {
        let piece = path_piece(sphere, number);
        var impact: CaromImpact;
        if link_of(piece) >= NEXT_WALL {
            impact = impact_at_wall(sphere, number);
        } else {
            let pair = candidates[link_of(piece) / MOST_IMPACTS];
            if pair.a != sphere {
                continue;
            }
            impact = impact_of_pair(pair, number);
        }
        // `simulation.time` is already the time at the end of the substep.
        impact.time = add_float(simulation.time, piece.start - simulation.substep);
        let place = atomicAdd(&simulation_counters.listed, 1u);
        if place < arrayLength(&impacts) {
            impacts[place] = impact;
        }
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if i < select(simulation.spheres, 0u, simulation.accepted == 0u) && bodies[i].radius >= 0.0 {
        list(i);
    }
}
