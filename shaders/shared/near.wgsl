// The near test of two proxies, much cheaper than the filter: whether the spheres come near
// each other during the time segment of the searching proxy. docs/exact.md has the proof, and
// the constants are in `src/shared/filter.rs`.

#import opaque::{opaque3}
#import segments::{part_of}
#import tag::{segment_of, segment_power}
#import types::{SortedProxy}

// The time of a segment: its middle, and half its length plus a margin.
struct Window {
    middle: f32,
    half: f32,
}

// Returns the window of a proxy's segment, in a step of length dt.
fn window_of(tag: u32, dt: f32) -> Window {
    let half = part_of(segment_power(tag) + 1u);
    return Window(f32(2u * segment_of(tag) + 1u) * half * dt, (half + NEAR_MARGIN) * dt);
}

// Returns whether two spheres may touch within the window of one of them: whether their
// distance in the middle of the window is at most the sum of their radii plus their relative
// motion in half the window, with margins. The result is true for every pair that the window's
// segment owns and that the filter does not call a certain miss.
fn may_touch(i: SortedProxy, j: SortedProxy, window: Window) -> bool {
    let p = opaque3(j.center - i.center);
    let v = opaque3(j.velocity - i.velocity);
    let q = opaque3(p + v * window.middle);
    let radii = (i.radius + j.radius) * (1.0 + NEAR_MARGIN) + NEAR_LEAST;
    // SLOW avoids sqrt(0), whose result WGSL leaves open. It can only increase the reach.
    let reach = radii + sqrt(dot(v, v) + SLOW) * window.half;
    return dot(q, q) <= reach * reach;
}
