// The filter: the swept test of two spheres in float32. It tells hits, misses and what is
// too close to tell. Its constants are in `src/shared/filter.rs`; the CPU sweeps in float64.

#import opaque::{opaque, opaque3}
#import types::{SortedProxy}

// What the filter finds of a pair.
struct Filtered {
    p: vec3<f32>,
    v: vec3<f32>,
    r: f32,
    // Whether they move too slowly past one another for `t` to mean anything.
    slow: bool,
    // Time of closest approach within [0, dt].
    t: f32,
    // r² less the squared distance at that time, and how much it may be wrong.
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
    let a = opaque(dot(v, v));
    let b = opaque(dot(p, v));
    let slow = a < SLOW;
    var t = 0.0;
    if !slow {
        t = clamp(-b / a, 0.0, dt);
    }
    // Not a subnormal number, which may count as 0 in one product but not in
    // another.
    t = opaque(select(t, 0.0, t < MIN_POSITIVE));
    let q = opaque3(p + v * t);
    let rr = r * r;
    let qq = dot(q, q);
    let margin = opaque(rr - qq);
    let distance = sum(abs(p));
    let speed = sum(abs(v));
    let rounding = opaque(ROUNDING * (distance + 2.0 * speed * t));
    var bound = rounding * (LINEAR * sum(abs(q)) + QUADRATIC * rounding) + ROUNDING * SQUARES * (rr + qq) + ABSOLUTE;
    if slow {
        // What the whole motion can change of the margin.
        bound += SLOWLY * distance * (speed * dt);
    }
    return Filtered(p, v, r, slow, t, margin, bound);
}
