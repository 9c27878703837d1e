// The swept test of two spheres, in float32. Its constants are in `src/sweep.rs`, where
// `ownership` has its twin; the CPU sweeps in float64. Reads `params`, for opaque().

struct Sweep {
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

fn sweep(i: SortedProxy, j: SortedProxy, dt: f32) -> Sweep {
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
    return Sweep(p, v, r, slow, t, margin, bound);
}

// Time of impact and depth, of two that touch or may. At that time the gap between
// them is 0 but for rounding: src/gpu/mod.rs tells how much.
fn impact(s: Sweep, dt: f32) -> vec2<f32> {
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

const OWN = 0u;
const OTHER = 1u;
const SHARED = 2u;

// Whether the pair belongs to the two time segments that met: to those that
// contain the time of closest approach.
fn ownership(s: Sweep, tag_i: u32, tag_j: u32, dt: f32) -> u32 {
    if segment_power(tag_i) == 0u && segment_power(tag_j) == 0u {
        return OWN;
    }
    // In units of the finest segment.
    let finest = f32(1u << SEGMENT_BITS);
    let speed = largest(abs(s.v));
    var low = 0.0;
    var high = finest;
    if speed * dt <= STILL * EPSILON * largest(abs(s.p)) {
        high = 0.0;
    } else if !s.slow {
        let at = s.t / dt;
        let error = TIME * EPSILON * (sum(abs(s.p)) / speed / dt + at + 1.0);
        low = (at - error) * finest;
        high = (at + error) * finest;
    }
    let first = u32(clamp(low, 0.0, finest - 1.0));
    let last = u32(clamp(high, 0.0, finest - 1.0));
    var found = OWN;
    for (var side = 0u; side < 2u; side++) {
        let tag = select(tag_j, tag_i, side == 0u);
        let shift = SEGMENT_BITS - segment_power(tag);
        let k = segment_of(tag);
        if k < (first >> shift) || k > (last >> shift) {
            return OTHER;
        }
        if (first >> shift) != (last >> shift) {
            found = SHARED;
        }
    }
    return found;
}
