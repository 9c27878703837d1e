// The near test: whether two spheres may touch during a time segment of one of them.
// The filter tests the pairs that pass. docs/exact.md proves that no pair is lost, and
// `src/shared/filter.rs` has the constants.

#import opaque::{opaque3}
#import segments::{part_of}
#import sorted::{SortedProxy}
#import tag::{segment_of, segment_power}

// The middle of a segment, and half its length plus a margin.
struct Window {
    middle: f32,
    half: f32,
}

fn window_of(tag: u32, dt: f32) -> Window {
    let half = part_of(segment_power(tag) + 1u);
    return Window(f32(2u * segment_of(tag) + 1u) * half * dt, (half + NEAR_MARGIN) * dt);
}

// Compares the distance in the middle of the segment with the sum of the radii plus the
// relative motion in half of it, with margins. If it is false, the spheres do not
// touch, or other segments report the pair.
fn may_touch(i: SortedProxy, j: SortedProxy, window: Window) -> bool {
    let p = opaque3(j.center - i.center);
    let v = opaque3(j.velocity - i.velocity);
    let q = opaque3(p + v * window.middle);
    let radii = (i.radius + j.radius) * (1.0 + NEAR_MARGIN) + NEAR_LEAST;
    // WGSL leaves sqrt(0) open. Adding SLOW can only let more pairs pass.
    let reach = radii + sqrt(dot(v, v) + SLOW) * window.half;
    return dot(q, q) <= reach * reach;
}
