// Decides whether two time segments report the pair of their spheres. Twin of
// `src/shared/ownership.rs`.

#import filter::{Filtered}
#import segments::{largest}
#import tag::{segment_of, segment_power}

// OWN: only these. OTHER: others do. SHARED: rounding leaves it open, so all possible
// ones do.
const OWN = 0u;
const OTHER = 1u;
const SHARED = 2u;

// If both contain the time of closest approach.
fn ownership(s: Filtered, tag_i: u32, tag_j: u32, dt: f32) -> u32 {
    if segment_power(tag_i) == 0u && segment_power(tag_j) == 0u {
        return OWN;
    }
    // Of the time of closest approach, in units of the shortest possible segment.
    let finest = f32(1u << SEGMENT_BITS);
    let speed = largest(abs(s.v));
    var low = 0.0;
    var high = finest;
    // Rounding makes the time of closest approach uncertain, so the first segments
    // report the pair (docs/exact.md, section 3).
    if speed * dt <= STILL * EPSILON * largest(abs(s.p)) {
        high = 0.0;
    } else if !s.slow {
        let at = s.t / dt;
        let error = TIME * EPSILON * (s.distance / speed / dt + at + 1.0);
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
