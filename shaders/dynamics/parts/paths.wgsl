// The paths of spheres in a substep of hard-sphere dynamics.

#import dynamics::{NEXT_NONE, PathPiece}
#import rests::{HELD, RESTS}
#needs bodies, pieces, simulation_request

// A sphere that moved farther than its pad (the assumed bound on its displacement) gets a pad of this
// many times its displacement.
const WIDER = 1.3;

// Returns piece `number` of the path of a sphere. Piece 0 is the motion before the first impact.
fn path_piece(sphere: u32, number: u32) -> PathPiece {
    if number == 0u {
        if RESTS && bodies[sphere].held == 0.0 {
            return PathPiece(bodies[sphere].residue, 0.0, bodies[sphere].velocity, NEXT_NONE ^ HELD);
        }
        return PathPiece(bodies[sphere].residue, 0.0, bodies[sphere].velocity, NEXT_NONE);
    }
    return pieces[sphere * MOST_IMPACTS + number - 1u];
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
    if number < 4u || min(simulation_request.restitution, simulation_request.wall_restitution) >= 1.0 {
        return false;
    }
    let since = path_piece(sphere, number - 3u).start;
    return path_piece(sphere, number).start - since < simulation_request.contact_time;
}
