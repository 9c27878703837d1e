// Walls in hard-sphere dynamics.

#import carom::{CAROM_HALF_SPACE, CAROM_HOLLOW_CYLINDER, CAROM_HOLLOW_SPHERE, CaromWall}
#import dynamics::{NEVER}
#import meeting::{CONTACT, Motion, RESTING, round_meeting}

// Returns the motion of a sphere relative to a wall. For a cylinder, the component along the axis is removed.
fn at_wall(wall: CaromWall, motion: Motion) -> Motion {
    if wall.kind == CAROM_HALF_SPACE {
        return motion;
    }
    let axis = wall.direction;
    return Motion(
        motion.place - axis * dot(axis, motion.place),
        motion.velocity - axis * dot(axis, motion.velocity),
        motion.acceleration - axis * dot(axis, motion.acceleration),
    );
}

fn is_hollow(wall: CaromWall) -> bool {
    return wall.kind == CAROM_HOLLOW_SPHERE || wall.kind == CAROM_HOLLOW_CYLINDER;
}

// Returns the distance from the surface of a sphere to a wall. `place` is the sphere's centre relative to the
// wall.
fn wall_gap(wall: CaromWall, place: vec3<f32>, radius: f32) -> f32 {
    if wall.kind == CAROM_HALF_SPACE {
        return dot(wall.direction, place) - radius;
    }
    let away = length(place - wall.direction * dot(wall.direction, place));
    return select(away - wall.size - radius, wall.size - radius - away, is_hollow(wall));
}

// Returns how long a sphere moves until it meets a wall, or NEVER if this takes longer than `range`.
fn wall_meeting(wall: CaromWall, motion: Motion, radius: f32, range: f32) -> f32 {
    let speeds = length(motion.velocity) + length(wall.velocity);
    if wall.kind != CAROM_HALF_SPACE {
        let hollow = is_hollow(wall);
        let reach = select(wall.size + radius, max(wall.size - radius, 0.0), hollow);
        return round_meeting(at_wall(wall, motion), reach, hollow, speeds, range);
    }
    let gap = dot(wall.direction, motion.place) - radius;
    let rate = dot(wall.direction, motion.velocity);
    let bend = dot(wall.direction, motion.acceleration);
    if gap <= CONTACT * radius && rate < 0.0 {
        let is_slow = rate >= -RESTING * speeds;
        if !is_slow || gap < -CONTACT * radius {
            return 0.0;
        }
    }
    let open = max(gap, 0.0);
    let square = rate * rate - 2.0 * bend * open;
    if square < 0.0 || (rate >= 0.0 && bend >= 0.0) {
        return NEVER;
    }
    let root = sqrt(square);
    if rate >= 0.0 {
        return (rate + root) / -bend;
    }
    return 2.0 * open / max(root - rate, MIN_POSITIVE);
}
