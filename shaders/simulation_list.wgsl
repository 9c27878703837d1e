// Adds the impacts of a complete substep of hard-sphere dynamics to the list of impacts. Their order varies from run to
// run.

#import carom::{CAROM_WALL, CaromImpact, CaromSimulation, carom_image}
#import dynamics::{Body, Candidate, NEXT_TRIANGLE, NEXT_WALL, PathPiece, SimulationCounters, SimulationRequest, Track}
#import dynamics_places::{image_of_code, wall_of_code}
#import encounter::{pair_motion}
#import image_word::{pack_image}
#import invocation::{invocation}
#import paths::{path_piece}
#import two_floats::{add_float}
#import types::{Params}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(2) var<uniform> simulation: CaromSimulation;
@group(0) @binding(3) var<storage, read> bodies: array<Body>;
@group(0) @binding(4) var<storage, read> pieces: array<PathPiece>;
@group(0) @binding(5) var<storage, read> candidates: array<Candidate>;
@group(0) @binding(6) var<storage, read> tracks: array<Track>;
@group(0) @binding(7) var<storage, read_write> simulation_counters: SimulationCounters;
@group(0) @binding(8) var<storage, read_write> impacts: array<CaromImpact>;

// Returns a unit vector along a vector, or 0 for 0.
fn direction(v: vec3<f32>) -> vec3<f32> {
    return v / max(length(v), MIN_POSITIVE);
}

// Returns an impact of two spheres, without its time, as an entry for the list of impacts. The impact is the
// one with which piece `number` of the path of sphere a begins.
fn impact_of_pair(pair: Candidate, number: u32) -> CaromImpact {
    let before = path_piece(pair.a, number - 1u);
    let after = path_piece(pair.a, number);
    let number_b = after.link % MOST_IMPACTS + 1u;
    let other = path_piece(pair.b, number_b - 1u);
    let other_after = path_piece(pair.b, number_b);
    var impact: CaromImpact;
    impact.a = pair.a;
    impact.b = pair.b;
    impact.normal = direction(pair_motion(pair, before, other, after.start).place);
    // Only a sphere of finite mass changes its velocity.
    let inverse_a = bodies[pair.a].inverse_mass;
    if inverse_a > 0.0 {
        impact.impulse = length(after.velocity - before.velocity) / inverse_a;
    } else {
        impact.impulse = length(other_after.velocity - other.velocity) / bodies[pair.b].inverse_mass;
    }
    impact.image = pair.image;
    return impact;
}

fn impact_at_wall(sphere: u32, number: u32) -> CaromImpact {
    let after = path_piece(sphere, number);
    let change = after.velocity - path_piece(sphere, number - 1u).velocity;
    var impact: CaromImpact;
    impact.a = sphere;
    impact.normal = -direction(change);
    impact.impulse = length(change) / bodies[sphere].inverse_mass;
    if after.link >= NEXT_TRIANGLE {
        let near = candidates[simulation_request.near_capacity + after.link - NEXT_TRIANGLE];
        impact.b = CAROM_WALL + simulation_request.walls + near.b;
        // `near.image` names the image (periodic copy) of a triangle that the sphere itself hits. The
        // list of impacts instead names the image of the sphere that hits the original triangle. The
        // displacements of these two images are opposite.
        impact.image = pack_image(-carom_image(near.image));
    } else {
        let code = after.link - NEXT_WALL;
        impact.b = CAROM_WALL + wall_of_code(code);
        impact.image = pack_image(image_of_code(code));
    }
    return impact;
}

fn list(sphere: u32) {
    let count = tracks[sphere].count;
    for (var number = 1u; number <= count; number++) {
        let piece = path_piece(sphere, number);
        var impact: CaromImpact;
        if piece.link >= NEXT_WALL {
            impact = impact_at_wall(sphere, number);
        } else {
            let pair = candidates[piece.link / MOST_IMPACTS];
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
    if i < simulation.spheres && simulation.accepted != 0u && bodies[i].radius >= 0.0 {
        list(i);
    }
}
