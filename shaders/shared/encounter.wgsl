// The relative motion of two spheres, or of a sphere and a wall, in hard-sphere dynamics.

#import carom::{CaromWall}
#import dynamics::{Candidate, PathPiece}
#import dynamics_places::{place_at_wall}
#import meeting::{Motion}
#import paths::{place_at}
#needs bodies, simulation_request

// Returns the motion of sphere b relative to sphere a from `time` on, for the given pieces of their paths.
// Gravity cancels, unless one of the spheres has infinite mass and therefore does not fall.
fn pair_motion(pair: Candidate, one: PathPiece, other: PathPiece, time: f32) -> Motion {
    var share = 0.0;
    if bodies[pair.a].inverse_mass == 0.0 {
        share += 1.0;
    }
    if bodies[pair.b].inverse_mass == 0.0 {
        share -= 1.0;
    }
    let acceleration = simulation_request.gravity * share;
    let place = pair.apart + (place_at(other, time) - place_at(one, time));
    let velocity = other.velocity - one.velocity;
    return Motion(place + acceleration * (0.5 * time * time), velocity + acceleration * time, acceleration);
}

// Returns the position, velocity and acceleration of a sphere relative to a wall at the time `time`.
fn wall_motion(wall: CaromWall, sphere: u32, piece: PathPiece, time: f32) -> Motion {
    let gravity = simulation_request.gravity;
    let moved = place_at(piece, time) + gravity * (0.5 * time * time) - wall.velocity * time;
    let place = place_at_wall(wall, bodies[sphere].center) + moved;
    return Motion(place, piece.velocity + gravity * time - wall.velocity, gravity);
}
