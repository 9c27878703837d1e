// Estimates the time of impact and the penetration depth of two spheres in float32. The host later computes
// the exact values (`src/exact/impact.rs`).

#import filter::{Filtered}

// Returns the time of impact and the penetration depth of two spheres that may touch. At the computed time,
// the gap between them is 0 except for rounding errors, which `src/gpu/mod.rs` bounds.
fn rough_impact(s: Filtered, dt: f32) -> vec2<f32> {
    let rr = s.r * s.r;
    let pp = dot(s.p, s.p);
    if pp <= rr {
        return vec2<f32>(0.0, max(rr - pp, 0.0) / max(s.r + sqrt(pp), MIN_POSITIVE));
    }
    if s.slow {
        return vec2<f32>(0.0);
    }
    // Distances along the relative motion of the two spheres. `ahead` is from the start to the closest
    // approach, and `back` from the first contact to the closest approach.
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
