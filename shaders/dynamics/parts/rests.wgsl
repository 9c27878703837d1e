// Rest of spheres in hard-sphere dynamics: see "Rest" in `docs/design.md`.

#import dynamics::{NEXT_WALL, PathPiece}
#needs bodies, simulation, simulation_request

// Whether spheres can rest, which needs gravity and a contact time.
override RESTS: bool = false;

// This bit of `PathPiece.link` is set if the sphere is *held* during this piece of its path: gravity does not act on
// it, because it rests or has infinite mass. The place and the velocity of such a piece do not leave out gravity.
const HELD = 0x40000000u;

// Elastic bodies rest only if they approach at less than this fraction of the slow speed.
const ELASTIC = 1e-6;
// A sphere that slides along a hollow wall can rest on it if the acceleration towards the centre of its path is at
// most this fraction of gravity.
const CURVED = 0.01;

fn is_held(sphere: u32, piece: PathPiece) -> bool {
    if RESTS {
        return (piece.link & HELD) != 0u;
    }
    return bodies[sphere].inverse_mass == 0.0;
}

// Returns the field `link` of a piece without the bit HELD.
fn link_of(piece: PathPiece) -> u32 {
    if RESTS {
        return piece.link & ~HELD;
    }
    return piece.link;
}

// Returns the change of a sphere's velocity in the impact between two pieces of its path.
fn change_between(sphere: u32, before: PathPiece, after: PathPiece) -> vec3<f32> {
    let change = after.velocity - before.velocity;
    if !RESTS {
        return change;
    }
    let held = f32(is_held(sphere, before)) - f32(is_held(sphere, after));
    return change + simulation_request.gravity * (after.start * held);
}

// Returns the approach speed below which an impact is slow, for bodies of the given restitution.
fn slow_speed(restitution: f32) -> f32 {
    let slow = length(simulation_request.gravity) * simulation.contact_time;
    return select(slow, slow * ELASTIC, restitution == 1.0);
}

// The values of `SimulationRequest.combine`. Twin of `Combine` in `src/dynamics/options.rs`.
const COMBINE_AVERAGE = 1u;
const COMBINE_MIN = 2u;
const COMBINE_MULTIPLY = 3u;

// Without branches: see docs/design.md ("On the GPU").
fn combined(a: f32, b: f32) -> f32 {
    let combine = simulation_request.combine;
    let usual = select(max(a, b), min(a, b), combine == COMBINE_MIN);
    let average = select(usual, 0.5 * (a + b), combine == COMBINE_AVERAGE);
    return select(average, a * b, combine == COMBINE_MULTIPLY);
}

// Each entry behind the spheres has the restitutions of three spheres.
fn own_restitution(sphere: u32) -> f32 {
    return bodies[simulation_request.own_restitutions + sphere / 3u].center[sphere % 3u];
}

// Returns the restitution of two spheres.
fn pair_restitution(a: u32, b: u32) -> f32 {
    if max(a, b) >= simulation_request.own_restitutions {
        return simulation_request.restitution;
    }
    return combined(own_restitution(a), own_restitution(b));
}

// Returns the restitution of a sphere at a wall or a mesh.
fn wall_restitution(sphere: u32, wall: u32) -> f32 {
    let given = simulation_request.wall_restitutions[wall / 4u][wall % 4u];
    if sphere >= simulation_request.own_restitutions {
        return given;
    }
    return combined(own_restitution(sphere), given);
}

// Returns the approach speed below which an impact of a sphere with a partner is slow. `partner` is the index of a sphere, or
// the code of a wall or a triangle, and `wall` the number of this wall or of its mesh.
fn slow_at(sphere: u32, partner: u32, wall: u32) -> f32 {
    if partner >= NEXT_WALL {
        return slow_speed(wall_restitution(sphere, wall));
    }
    return slow_speed(pair_restitution(sphere, partner));
}
