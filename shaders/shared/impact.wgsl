// Time of impact and depth of two spheres in float32, without a bound on their errors. The
// exact ones are the host's: `impact` in `src/exact/impact.rs`.

#import filter::{Filtered}

// Time of impact and depth, of two that touch or may. At that time the gap between
// them is 0 but for rounding: `src/gpu/mod.rs` tells how much.
fn rough_impact(s: Filtered, dt: f32) -> vec2<f32> {
    let rr = s.r * s.r;
    let pp = dot(s.p, s.p);
    if pp <= rr {
        return vec2<f32>(0.0, max(rr - pp, 0.0) / max(s.r + sqrt(pp), MIN_POSITIVE));
    }
    if s.slow {
        return vec2<f32>(0.0);
    }
    // Along the way: how far it is to the closest approach, and from the first
    // touch to that.
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
