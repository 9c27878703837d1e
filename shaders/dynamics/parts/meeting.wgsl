// Finds when a moving point reaches a given distance `reach` from the origin, from outside or from inside.

#import dynamics::{NEVER}

// Motion of a point: place, velocity and acceleration.
struct Motion {
    place: vec3<f32>,
    velocity: vec3<f32>,
    acceleration: vec3<f32>,
}

// A gap counts as contact if it is at most this fraction of `reach`, the distance at contact (for two
// spheres, the sum of their radii).
const CONTACT = 1.0 / 2097152.0;

// At contact, an approach slower than this fraction of the speeds counts as none. The limit is a few times the
// rounding error of the approach speed, so an impact that has just been processed is not found again.
const RESTING = 1.0 / 2097152.0;

// Largest number of iterations of the root search.
const MOST_STEPS = 40u;

// Returns the time until two spheres with straight paths meet, or NEVER. They have the relative position p and
// the relative velocity v. `reach` is the sum of their radii, and `speeds` the sum of their two speeds. Spheres
// that overlap meet at once if they approach each other.
fn straight_meeting(p: vec3<f32>, v: vec3<f32>, reach: f32, speeds: f32) -> f32 {
    let closing = -dot(p, v);
    if !(closing > 0.0) {
        return NEVER;
    }
    let distance = length(p);
    let gap = distance - reach;
    if gap <= CONTACT * reach {
        if gap > -CONTACT * reach && closing <= RESTING * distance * speeds {
            return NEVER;
        }
        if gap <= 0.0 {
            return 0.0;
        }
    }
    let speed = length(v);
    let way = v / max(speed, MIN_POSITIVE);
    // The distance of the two spheres' centres at the closest approach. `p` is their relative position, and
    // `way` the direction of their relative velocity. Computing the distance as √(|p|² − (p·way)²) would lose
    // most digits by cancellation.
    let aside = length(cross(p, way));
    let room = (reach - aside) * (reach + aside);
    if room < 0.0 {
        return NEVER;
    }
    let ahead = -dot(p, way);
    return gap * (distance + reach) / (ahead + sqrt(room)) / speed;
}

// Returns whether a moving point is in contact with a surface and approaches it. `gap` is the distance
// between them, and `rate` the rate at which it grows. An approach slower than `slow` counts only if the
// point is clearly behind the surface.
fn is_contact(gap: f32, rate: f32, reach: f32, slow: f32) -> bool {
    return gap <= CONTACT * reach && rate < 0.0 && (rate < -slow || gap <= -CONTACT * reach);
}

// Returns a time during which a gap stays open. After a further time t, the gap must be at least
// `gap + rate * t - bend * t² / 2`. If the gap is negative (the bodies overlap), the overlap does not become deeper
// during the returned time.
fn safe_time(gap: f32, rate: f32, bend: f32) -> f32 {
    let open = max(gap, 0.0);
    let square = rate * rate + 2.0 * bend * open;
    if (bend <= 0.0 && rate >= 0.0) || square < 0.0 {
        return NEVER;
    }
    let root = sqrt(square);
    // The first root of a parabola can be computed by two formulas. The one that subtracts no two close
    // numbers is used.
    let usual = 2.0 * open / max(root - rate, MIN_POSITIVE);
    return select(usual, (root + rate) / bend, rate > 0.0 && bend > 0.0);
}

// Returns the next time of a root search: `time` + `step`. The increase has a lower limit, so that the
// search makes progress even if rounding makes the sum equal to `time`.
fn advanced(time: f32, step: f32, range: f32) -> f32 {
    return max(time + step, time + 1e-6 * (time + 0.001 * range));
}

// Returns when a uniformly accelerated point reaches the surface at distance `reach` from the origin, from
// outside or, if `inside` is true, from inside. Returns NEVER if this takes longer than `range`. The time is
// found by iteration. Each step is so short that the point cannot pass the surface.
fn round_meeting(motion: Motion, reach: f32, inside: bool, speeds: f32, range: f32) -> f32 {
    let strength = length(motion.acceleration);
    let side = select(1.0, -1.0, inside);
    var time = 0.0;
    for (var k = 0u; k < MOST_STEPS; k++) {
        let p = motion.place + (motion.velocity + motion.acceleration * (0.5 * time)) * time;
        let v = motion.velocity + motion.acceleration * time;
        let distance = length(p);
        let gap = side * (distance - reach);
        let growth = side * dot(p, v);
        let rate = growth / max(distance, MIN_POSITIVE);
        if is_contact(gap, rate, reach, RESTING * (speeds + strength * range)) {
            return time;
        }
        var step: f32;
        if inside {
            // Near the centre, the second derivative of the gap has no bound. So the code uses another function of
            // time, which is 0 at contact, too: (reach² - distance²) / 2. Until the time `window` is over, the
            // second derivative of this function is at least -(fastest² + reach * strength), where `fastest` is an
            // upper bound of the speed.
            let speed = length(v);
            let window = reach / max(max(speed, sqrt(strength * reach)), MIN_POSITIVE);
            let fastest = speed + strength * window;
            let open = 0.5 * gap * (reach + distance);
            step = min(safe_time(open, growth, fastest * fastest + reach * strength), window);
        } else {
            // A plane touches the surface at the place nearest to the moving point. At any later time, the point is at
            // least as far from the surface as from this plane.
            step = safe_time(gap, rate, -dot(motion.acceleration, p) / max(distance, MIN_POSITIVE));
        }
        time = advanced(time, step, range);
        if !(time < range) {
            return NEVER;
        }
    }
    return time;
}
