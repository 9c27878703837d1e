// The paths of spheres in a substep of hard-sphere dynamics.

#import dynamics::{NEXT_NONE, PathPiece}
#import rests::{HELD, RESTS}
#needs bodies, pieces, simulation, simulation_request, tracks

// A sphere that moved farther than its pad gets a pad of this many times its displacement.
const WIDER = 1.3;
const RELIEF = 1.0;
// A sphere with strain may sink into others by about this share of its radius in a substep.
const OVERLAP = 1e-4;

// Returns piece `number` of the path of a sphere. Piece 0 is the motion before the first impact.
fn path_piece(sphere: u32, number: u32) -> PathPiece {
    if number == 0u {
        if RESTS && bodies[sphere].held == 0.0 {
            return PathPiece(bodies[sphere].residue, 0.0, bodies[sphere].velocity, NEXT_NONE ^ HELD);
        }
        return PathPiece(bodies[sphere].residue, 0.0, bodies[sphere].velocity, NEXT_NONE);
    }
    return pieces[sphere * simulation_request.path_room + number - 1u];
}

// Returns the position of a sphere at the time `time`, relative to its rounded centre at the start of the substep.
fn place_at(piece: PathPiece, time: f32) -> vec3<f32> {
    return piece.place + piece.velocity * (time - piece.start);
}

// Returns the largest distance of a sphere from its rounded centre at the start of the substep: at its impacts and at
// the time `end`, without gravity. The path of the sphere has `count` impacts.
fn farthest(sphere: u32, count: u32, end: f32) -> f32 {
    var moved = length(place_at(path_piece(sphere, count), end));
    for (var number = 1u; number <= count; number++) {
        moved = max(moved, length(path_piece(sphere, number).place));
    }
    return moved;
}

// Returns whether a sphere is *crowded* after impact `number` of its path: the last four impacts have happened within a
// contact time, and impacts are inelastic.
fn is_crowded(sphere: u32, number: u32) -> bool {
    if (number < 4u) | (simulation_request.least_restitution >= 1.0) {
        return false;
    }
    let since = path_piece(sphere, number - 3u).start;
    return path_piece(sphere, number).start - since < simulation.contact_time;
}

// Returns the *strain* of a sphere: the number of its recent collapses, in which all that touched it collided at once. A
// contact time takes RELIEF away. A sphere with strain has no slow impacts, and each collapse doubles the speed below
// which they are slow. So collapses end, even where there is no room for the sphere.
fn strain_of(sphere: u32) -> f32 {
    return tracks[sphere].since;
}

// Returns the approach speed below which an impact is slow under strain. `slow` is that without strain, and `reach` the
// distance at contact.
fn slow_under_strain(slow: f32, strain: f32, reach: f32) -> f32 {
    if strain > 0.0 {
        return max(slow * exp2(strain), OVERLAP * reach / max(simulation.planned, MIN_POSITIVE));
    }
    return slow;
}

// Returns whether an impact can be added to the path of a sphere that has `count` of them. If a crowded sphere has a
// further one, the substep ends before it, and all that touches the sphere collides at once.
fn has_room(sphere: u32, count: u32) -> bool {
    return count < simulation_request.path_room && !(RESTS && is_crowded(sphere, count));
}
