// Estimates the time of impact and the depth in float32. The exact values are those of
// `src/exact/impact.rs`.

#import filter::{Filtered}

// At the computed time, the gap is 0 except for rounding errors, which `src/gpu/mod.rs`
// bounds.
fn rough_impact(s: Filtered, dt: f32) -> vec2<f32> {
    let rr = s.r * s.r;
    let pp = dot(s.p, s.p);
    if pp <= rr {
        return vec2<f32>(0.0, max(rr - pp, 0.0) / max(s.r + sqrt(pp), MIN_POSITIVE));
    }
    if s.slow {
        return vec2<f32>(0.0);
    }
    // Along the relative motion: from the start, and from the first contact, to the
    // closest approach.
    let speed = sqrt(dot(s.v, s.v));
    let way = s.v / speed;
    let ahead = -dot(s.p, way);
    let aside = cross(s.p, way);
    let back = sqrt(max(rr - dot(aside, aside), 0.0));
    if ahead <= 0.0 {
        return vec2<f32>(0.0);
    }
    return vec2<f32>(clamp((pp - rr) / (ahead + back) / speed, 0.0, dt), 0.0);
}
