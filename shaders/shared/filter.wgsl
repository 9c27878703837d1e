// Tests in float32, with an error bound, whether two spheres touch during the step.
// docs/exact.md has the proof, and `src/shared/filter.rs` the constants.

#import opaque::{opaque, opaque3}
#import sorted::{SortedProxy}

// Touch if margin > bound, miss if margin < -bound, otherwise grazing.
struct Filtered {
    // Relative position at the start of the step, relative velocity, and sum of the radii.
    p: vec3<f32>,
    v: vec3<f32>,
    r: f32,
    // Bounds the coordinates from which `p` was computed, with an error of at most
    // EPSILON times this bound.
    distance: f32,
    // Whether the time of closest approach cannot be computed. Then `t` is 0.
    slow: bool,
    // Time of closest approach within [0, dt].
    t: f32,
    // r² minus the squared distance at closest approach, and a bound of its error.
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

// `distance`, times EPSILON, bounds the error of `p`. It is at least the sum of the
// magnitudes of p's components.
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
        // Tested at the start of the step, so the bound covers the relative
        // motion in all of it.
        bound += SLOWLY * distance * (speed * dt);
    }
    return Filtered(p, v, r, distance, slow, t, margin, bound);
}
