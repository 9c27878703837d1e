// The relative motion of two spheres, or of a sphere and a wall, in hard-sphere dynamics.

#import dynamics::{Candidate, PathPiece}
#import meeting::{Motion}
#import paths::{place_at}
#import rests::{HELD, RESTS, is_held}
#needs simulation_request

// Returns the unit vector in the direction of `v`, even if the square of its length underflows. Returns 0 if all
// components are 0 or subnormal.
fn direction(v: vec3<f32>) -> vec3<f32> {
    let largest = max(max(abs(v.x), abs(v.y)), abs(v.z));
    if !(largest >= MIN_POSITIVE) {
        return vec3<f32>(0.0);
    }
    return normalize(v / largest);
}

// Returns the position, velocity and acceleration of sphere b relative to sphere a at the time `time`.
// At this time, sphere a is on the piece `one` of its path, and sphere b on the piece `other` of its
// own. Gravity accelerates both spheres alike, so the relative acceleration is 0, unless exactly one
// sphere is held and does not fall.
fn pair_motion(pair: Candidate, one: PathPiece, other: PathPiece, time: f32) -> Motion {
    var share = 0.0;
    if is_held(pair.a, one) {
        share += 1.0;
    }
    if is_held(pair.b, other) {
        share -= 1.0;
    }
    let acceleration = simulation_request.gravity * share;
    let place = pair.apart + (place_at(other, time) - place_at(one, time));
    let velocity = other.velocity - one.velocity;
    return Motion(place + acceleration * (0.5 * time * time), velocity + acceleration * time, acceleration);
}

// Returns the position, velocity and acceleration of a sphere relative to a wall at the time `time`. `place` is the
// position of the sphere relative to the wall at the start of the substep.
fn wall_motion(velocity: vec3<f32>, place: vec3<f32>, piece: PathPiece, time: f32) -> Motion {
    var gravity = simulation_request.gravity;
    if RESTS && (piece.link & HELD) != 0u {
        gravity = vec3<f32>(0.0);
    }
    let moved = place_at(piece, time) + gravity * (0.5 * time * time) - velocity * time;
    return Motion(place + moved, piece.velocity + gravity * time - velocity, gravity);
}
