// Moves the spheres of a hard-sphere simulation to the end of a complete substep. In a periodic domain, their centres
// are wrapped into its cell.

#import carom::{CaromSimulation}
#import dynamics::{Body, LONG_AGO, PathPiece, SimulationRequest, Track}
#import invocation::{invocation}
#import opaque::{opaque3}
#import paths::{path_piece, place_at}
#import sum::{Sum, add}
#import types::{Params}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(2) var<uniform> simulation: CaromSimulation;
@group(0) @binding(3) var<storage, read> pieces: array<PathPiece>;
@group(0) @binding(4) var<storage, read_write> bodies: array<Body>;
@group(0) @binding(5) var<storage, read_write> tracks: array<Track>;

// Returns the position `center + moved` of a sphere, with its rounding errors. In a periodic domain, the position is
// wrapped into the cell.
fn wrapped(center: vec3<f32>, moved: vec3<f32>) -> Sum {
    var place = add(Sum(center, vec3<f32>(0.0)), moved);
    if simulation_request.periodic == 0u {
        return place;
    }
    for (var k = 0u; k < 3u; k++) {
        let cells = floor(dot(simulation_request.duals[k].xyz, place.rounded - simulation_request.corner));
        place = add(place, opaque3(simulation_request.edges[k].xyz * -cells));
    }
    return place;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = invocation(workgroup, workgroups, local, WORKGROUP);
    if i >= simulation.spheres || simulation.accepted == 0u || bodies[i].radius < 0.0 {
        return;
    }
    let body = bodies[i];
    let track = tracks[i];
    let duration = simulation.substep;
    let last = path_piece(i, track.count);
    var moved = place_at(last, duration);
    var velocity = last.velocity;
    if body.inverse_mass > 0.0 {
        moved += simulation_request.gravity * (0.5 * duration * duration);
        velocity += simulation_request.gravity * duration;
    }
    let place = wrapped(body.center, moved);
    let center = opaque3(place.rounded + place.errors);
    let residue = place.errors - opaque3(center - place.rounded);
    bodies[i] = Body(center, body.radius, velocity, body.inverse_mass, residue, 0.0);
    if track.count > 0u || track.since < 0.0 {
        let since = select(last.start, track.since, track.count == 0u);
        // If the last impact is at the end of the substep, `since` must still be negative, because 0 means that there
        // was no impact.
        tracks[i].since = clamp(since - duration, LONG_AGO, -MIN_POSITIVE);
    }
    tracks[i].wide = 0.0;
}
