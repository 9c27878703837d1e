// The filter tests in float32, with an error bound, whether two spheres touch during the step. docs/exact.md
// has the proof, and `src/shared/filter.rs` the constants.

#import opaque::{opaque, opaque3}
#import sorted::{SortedProxy}

// The spheres certainly touch if margin > bound, and certainly miss if margin < -bound. Otherwise the pair is
// grazing.
struct Filtered {
    // Relative position at the start of the step, relative velocity, and sum of the radii.
    p: vec3<f32>,
    v: vec3<f32>,
    r: f32,
    // A bound of the magnitudes of the coordinates from which `p` was computed, with a rounding error of at
    // most EPSILON times this bound.
    distance: f32,
    // Whether the relative velocity is so small that the time of closest approach cannot be computed. If so,
    // `t` is 0.
    slow: bool,
    // Time of closest approach within [0, dt].
    t: f32,
    // r² minus the squared distance of the centres at their closest approach, and an upper bound of its
    // error.
    margin: f32,
    bound: f32,
}

fn sum(v: vec3<f32>) -> f32 {
    return v.x + v.y + v.z;
}

fn filter_pair(i: SortedProxy, j: SortedProxy, dt: f32) -> Filtered {
    let p = opaque3(j.center - i.center);
    let v = opaque3(j.velocity - i.velocity);
    let r = opaque(j.radius + i.radius);
    return filter_motion(p, v, r, sum(abs(p)), dt);
}

// The error of `p` is at most EPSILON times `distance`, which is at least the sum of the magnitudes of
// p's components.
fn filter_motion(p: vec3<f32>, v: vec3<f32>, r: f32, distance: f32, dt: f32) -> Filtered {
    let a = opaque(dot(v, v));
    let b = opaque(dot(p, v));
    let slow = a < SLOW;
    var t = 0.0;
    if !slow {
        t = clamp(-b / a, 0.0, dt);
    }
    // A GPU may flush a subnormal time to 0 in one product but not in another.
    t = opaque(select(t, 0.0, t < MIN_POSITIVE));
    let q = opaque3(p + v * t);
    let rr = r * r;
    let qq = dot(q, q);
    let margin = opaque(rr - qq);
    let speed = sum(abs(v));
    let rounding = opaque(ROUNDING * (distance + 2.0 * speed * t));
    var bound = rounding * (LINEAR * sum(abs(q)) + QUADRATIC * rounding) + ROUNDING * SQUARES * (rr + qq) + ABSOLUTE;
    if slow {
        // Spheres that hardly move relative to each other are tested at the start of the step. So the error
        // bound is increased by a bound on their relative motion in the whole step.
        bound += SLOWLY * distance * (speed * dt);
    }
    return Filtered(p, v, r, distance, slow, t, margin, bound);
}
