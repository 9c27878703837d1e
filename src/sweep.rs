//! The swept test of two spheres: a filter in float32 that says hit, miss or
//! "too close to tell". docs/exact.md proves its bounds; those it cannot tell
//! are for [`exact`](crate::exact).
//!
//! Twin of `shaders/shared/sweep.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "segments are clamped before they become integers"
)]

use glam::Vec3;
use wide::f32x4;

use crate::grid::{SEGMENT_BITS, SortedProxy, segment_of, segment_power};
use crate::number::{LANES, Number, dot, each, rows};

/// What one operation may be off by, relatively, where no rounding mode is
/// promised: the distance from 1 to the next float32.
pub(crate) const EPSILON: f32 = f32::EPSILON;
/// The same in bounds, with a little more for what is second-order, and for the
/// rounding of the bound itself.
pub(crate) const ROUNDING: f32 = 1.001 * EPSILON;
/// How many ε·(|p| + 2|v|t)·|q| the margin r² − q·q may be wrong by.
pub(crate) const LINEAR: f32 = 2.0;
/// How many ε·(r² + q·q) besides.
pub(crate) const SQUARES: f32 = 5.0;
/// How many (ε·(|p| + 2|v|t))² besides: what is wrong with the time of closest
/// approach moves q along v, so it counts squared.
pub(crate) const QUADRATIC: f32 = 25.0;
/// What may get lost when subnormal numbers are flushed to zero, 2⁻¹²⁰.
pub(crate) const ABSOLUTE: f32 = 1.0 / (1_u128 << 120) as f32;
/// Below this, 2⁻⁸⁸, v·v may have lost digits to underflow, and the time of
/// closest approach would mean nothing. The start of the step stands for it.
pub(crate) const SLOW: f32 = 1.0 / (1_u128 << 88) as f32;
/// How many times |p|·|v|·dt the margin may be wrong where the start of the step
/// stands for the time of closest approach: twice, and a little for rounding.
pub(crate) const SLOWLY: f32 = 2.01;
/// How many ε·(|p| / (|v|·dt) + 1) the time of closest approach may be wrong, in
/// parts of the step.
pub(crate) const TIME: f32 = 8.0;
/// Two spheres that move less than this times ε·|p| past one another in the
/// whole step belong to their first segments: if they ever touch, they are in
/// reach of one another there too, by the margin of their cells.
pub(crate) const STILL: f32 = 3.0;

/// What the filter computes of two spheres.
#[derive(Clone, Copy, Debug)]
struct Filtered<T> {
    /// v·v.
    a: T,
    /// Time of closest approach within [0, dt].
    t: T,
    /// r² less the squared distance at that time.
    margin: T,
    /// How much the margin may be wrong.
    bound: T,
}

/// The filter: of p and v, the differences of centres and velocities, and r, the sum
/// of the radii, in a step of length `dt`.
#[inline(always)]
fn filter<T: Number>(p: [T; 3], v: [T; 3], r: T, dt: T) -> Filtered<T> {
    let sum = |x: [T; 3]| x[0].abs() + x[1].abs() + x[2].abs();
    let zero = T::of(0.0);
    let a = dot(v, v);
    let b = dot(p, v);
    let t = ((zero - b) / a).max(zero).min(dt);
    // Not a subnormal number, which may count as 0 in one product but not in
    // another.
    let t = a.if_below(SLOW, zero, t.if_below(f32::MIN_POSITIVE, zero, t));
    let q = each(p, v, |p, v| p + v * t);
    let (rr, qq) = (r * r, dot(q, q));
    let margin = rr - qq;
    let distance = sum(p);
    let speed = sum(v);
    let rounding = T::of(ROUNDING) * (distance + T::of(2.0) * speed * t);
    let bound = rounding * (T::of(LINEAR) * sum(q) + T::of(QUADRATIC) * rounding)
        + T::of(ROUNDING * SQUARES) * (rr + qq)
        + T::of(ABSOLUTE);
    // What the whole motion of a slow pair can change of the margin.
    let whole = T::of(SLOWLY) * distance * (speed * dt);
    let bound = bound + a.if_below(SLOW, whole, zero);
    Filtered {
        a,
        t,
        margin,
        bound,
    }
}

/// p, v and r of two spheres.
fn relative(i: &SortedProxy, j: &SortedProxy) -> ([f32; 3], [f32; 3], f32) {
    let less = |x, y| each(x, y, |x, y| x - y);
    let (p, v) = (less(j.center, i.center), less(j.velocity, i.velocity));
    (p, v, j.radius + i.radius)
}

/// What the filter found out about several pairs, one bit each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verdicts {
    /// Those that may touch: the others certainly do not.
    pub(crate) may_hit: usize,
    /// Those that are too close to tell.
    pub(crate) grazing: usize,
}

impl Verdicts {
    /// Sweeps [`LANES`] pairs of spheres.
    #[inline(always)]
    pub(crate) fn new(i: [&SortedProxy; LANES], j: [&SortedProxy; LANES], dt: f32) -> Self {
        let [[px, py, pz, pr], [vx, vy, vz, _]] = rows(i);
        let [[qx, qy, qz, qr], [ux, uy, uz, _]] = rows(j);
        let (p, v, r) = (
            [qx - px, qy - py, qz - pz],
            [ux - vx, uy - vy, uz - vz],
            qr + pr,
        );
        let Filtered { margin, bound, .. } = filter(p, v, r, f32x4::splat(dt));
        let zero = f32x4::splat(0.0);
        Self {
            may_hit: margin.simd_ge(zero - bound).to_bitmask() as usize,
            grazing: margin.simd_le(bound).to_bitmask() as usize,
        }
    }
}

/// Which of two time segments (tags of the proxies) the pair belongs to: to those
/// that contain the time of closest approach, because there the two are in reach of
/// one another, so their proxies are neighbours in the grid.
#[inline(always)]
pub(crate) fn ownership(pair: [&SortedProxy; 2], tags: [u32; 2], dt: f32) -> Ownership {
    if tags.map(segment_power) == [0, 0] {
        Ownership::Own
    } else {
        ownership_of_cut(pair, tags, dt)
    }
}

fn ownership_of_cut([i, j]: [&SortedProxy; 2], tags: [u32; 2], dt: f32) -> Ownership {
    let (p, v, r) = relative(i, j);
    let Filtered { a, t, .. } = filter(p, v, r, dt);
    let [p, v] = [p, v].map(Vec3::from);
    // In units of the finest segment.
    let finest = (1_u32 << SEGMENT_BITS) as f32;
    let speed = v.abs().max_element();
    let (low, high) = if speed * dt <= STILL * EPSILON * p.abs().max_element() {
        (0.0, 0.0)
    } else if a < SLOW {
        // Too slow past one another for the time to mean anything.
        (0.0, finest)
    } else {
        let at = t / dt;
        let error = TIME * EPSILON * (p.abs().element_sum() / speed / dt + at + 1.0);
        ((at - error) * finest, (at + error) * finest)
    };
    let [low, high] = [low, high].map(|x| x.clamp(0.0, finest - 1.0) as u32);
    let mut ownership = Ownership::Own;
    for tag in tags {
        let shift = SEGMENT_BITS - segment_power(tag);
        let k = segment_of(tag);
        if k < low >> shift || k > high >> shift {
            return Ownership::Other;
        }
        if low >> shift != high >> shift {
            ownership = Ownership::Shared;
        }
    }
    ownership
}

/// Whether a pair belongs to the two proxies that met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// To these two alone.
    Own,
    /// To other ones.
    Other,
    /// Rounding leaves open to which: all that it may belong to report it.
    Shared,
}

#[cfg(test)]
mod any_gpu;
#[cfg(test)]
mod tests;
