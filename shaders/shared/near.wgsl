// The first test of two proxies, much cheaper than the filter: whether they come near one
// another in the time of the one that looks for others. docs/exact.md has the proof, and the
// constants are in `src/shared/filter.rs`.

#import opaque::{opaque3}
#import segments::{part_of}
#import tag::{segment_of, segment_power}
#import types::{SortedProxy}

// The time of a segment: its middle and, with a margin, half its length.
struct Window {
    middle: f32,
    half: f32,
}

fn window_of(tag: u32, dt: f32) -> Window {
    let half = part_of(segment_power(tag) + 1u);
    return Window(f32(2u * segment_of(tag) + 1u) * half * dt, (half + NEAR_MARGIN) * dt);
}

// Whether two may touch within the window of one of them: then, in its middle, they are no
// further apart than their radii and what they move past one another in half of it. True of
// all that the filter lets pass, and that are of its segment.
fn may_touch(i: SortedProxy, j: SortedProxy, window: Window) -> bool {
    let p = opaque3(j.center - i.center);
    let v = opaque3(j.velocity - i.velocity);
    let q = opaque3(p + v * window.middle);
    let radii = (i.radius + j.radius) * (1.0 + NEAR_MARGIN) + NEAR_LEAST;
    // WGSL does not say what the root of 0 is.
    let reach = radii + sqrt(dot(v, v) + SLOW) * window.half;
    return dot(q, q) <= reach * reach;
}
