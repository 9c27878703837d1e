// Moves the spheres of a hard-sphere simulation to the end of a complete substep. In a periodic domain, their centres
// are wrapped into its cell.

#import carom::{CaromSimulation}
#import dynamics::{Body, LONG_AGO, NEXT_WALL, PathPiece, SimulationRequest, Track}
#import endings::{FORCES, PARTNER_MASK, WALL_MASK, ending, forces_of}
#import invocation::{invocation}
#import opaque::{opaque3}
#import paths::{RELIEF, path_piece, place_at, strain_of}
#import rests::{RESTS}
#import sum::{Sum, add}
#import types::{Params}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(2) var<uniform> simulation: CaromSimulation;
@group(0) @binding(3) var<storage, read> pieces: array<PathPiece>;
@group(0) @binding(4) var<storage, read_write> bodies: array<Body>;
@group(0) @binding(5) var<storage, read_write> tracks: array<Track>;
// What touches the spheres that rest: see `endings.wgsl`. Used only if spheres can rest.
@group(0) @binding(6) var<storage, read_write> touches: array<vec4<u32>>;

// Share of an overlap that is pushed out in a substep.
const SHARE = 0.3;

// Stores the forces of the contacts of a sphere, with which the sweeps of the next substep begin. The contact of two
// spheres is stored only for the one with the smaller index.
fn keep_forces(sphere: u32) {
    // A substep that has ended early has impulses of impacts besides those of lasting forces.
    if simulation.substep < 0.5 * simulation.planned {
        return;
    }
    let header = touches[2u * sphere + 1u];
    var k = 0u;
    for (var number = 0u; number < FORCES; number++) {
        var two = vec4<u32>(0u);
        for (var half = 0u; half < 2u; half++) {
            while k < header.x && (touches[header.y + 2u * k + 1u].x & PARTNER_MASK) < sphere {
                k++;
            }
            if k < header.x {
                let force = bitcast<f32>(touches[header.y + 2u * k].w) / simulation.substep;
                two[2u * half] = touches[header.y + 2u * k + 1u].x & PARTNER_MASK;
                two[2u * half + 1u] = bitcast<u32>(force);
                k++;
            }
        }
        touches[forces_of(sphere) + number] = two;
    }
}

// Returns the displacement of a sphere out of what it overlaps. It does not change the velocity, so it adds no kinetic
// energy.
fn pushed_out(sphere: u32) -> vec3<f32> {
    let header = touches[2u * sphere + 1u];
    let inverse_mass = bodies[sphere].inverse_mass;
    var away = vec3<f32>(0.0);
    var deepest = 0.0;
    for (var k = header.y; k < header.y + 2u * header.x; k += 2u) {
        let depth = bitcast<f32>(touches[k + 1u].w & ~WALL_MASK);
        let partner = touches[k + 1u].x & PARTNER_MASK;
        var sum = inverse_mass;
        if partner < NEXT_WALL {
            sum += bodies[partner].inverse_mass;
        }
        away -= bitcast<vec3<f32>>(touches[k].xyz) * (SHARE * depth * inverse_mass / max(sum, MIN_POSITIVE));
        deepest = max(deepest, depth);
    }
    return away * min(1.0, deepest / max(length(away), MIN_POSITIVE));
}

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
    if i >= select(simulation.spheres, 0u, simulation.accepted == 0u) || bodies[i].radius < 0.0 {
        return;
    }
    let body = bodies[i];
    let track = tracks[i];
    let duration = simulation.substep;
    let last = path_piece(i, track.count);
    var moved = place_at(last, duration);
    var velocity = last.velocity;
    var held = 0.0;
    if RESTS {
        let end = ending(i);
        moved = end.place;
        held = f32(body.inverse_mass == 0.0);
        if body.inverse_mass > 0.0 {
            let after = touches[2u * i];
            velocity = bitcast<vec3<f32>>(after.xyz);
            held = f32(after.w);
            if after.w == 0u {
                // What has supported it is gone, so it has fallen on a parabola. Otherwise energy would arise.
                moved += (velocity - end.velocity) * (0.5 * end.owed);
            }
        }
        keep_forces(i);
        moved += pushed_out(i);
    } else if body.inverse_mass > 0.0 {
        moved += simulation_request.gravity * (0.5 * duration * duration);
        velocity += simulation_request.gravity * duration;
    }
    let place = wrapped(body.center, moved);
    let center = opaque3(place.rounded + place.errors);
    let residue = place.errors - opaque3(center - place.rounded);
    bodies[i] = Body(center, body.radius, velocity, body.inverse_mass, residue, held);
    if RESTS {
        let rest = max(strain_of(i) - RELIEF * duration / simulation.contact_time, 0.0);
        tracks[i].since = rest + f32(touches[2u * i + 1u].z);
    } else if track.count > 0u || track.since < 0.0 {
        let since = select(last.start, track.since, track.count == 0u);
        // If the last impact is at the end of the substep, `since` must still be negative, because 0 means that there
        // was no impact.
        tracks[i].since = clamp(since - duration, LONG_AGO, -MIN_POSITIVE);
    }
    tracks[i].wide = 0.0;
}
