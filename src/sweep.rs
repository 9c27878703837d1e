//! The swept test of two spheres in float32, by which a GPU tells hits, misses and what
//! is too close to tell: its constants, for which docs/exact.md has the proof. And which
//! of their time segments two spheres are for.
//!
//! Twin of `shaders/shared/sweep.wgsl`, but that the CPU sweeps in float64 at once, see
//! [`exact`](crate::exact).

#![allow(
    clippy::cast_possible_truncation,
    reason = "segments are clamped before they become integers"
)]

use glam::Vec3;

use crate::Sphere;
use crate::grid::{SEGMENT_BITS, segment_of, segment_power};

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

/// Which of two time segments (tags of the proxies) the pair belongs to: to those
/// that contain the time of closest approach, because there the two are in reach of
/// one another, so their proxies are neighbours in the grid.
pub(crate) fn ownership([i, j]: [&Sphere; 2], tags: [u32; 2], dt: f32) -> Ownership {
    let p = Vec3::from(j.center) - Vec3::from(i.center);
    let v = Vec3::from(j.velocity) - Vec3::from(i.velocity);
    let a = v.length_squared();
    // In units of the finest segment.
    let finest = (1_u32 << SEGMENT_BITS) as f32;
    let speed = v.abs().max_element();
    let (low, high) = if speed * dt <= STILL * EPSILON * p.abs().max_element() {
        (0.0, 0.0)
    } else if a < SLOW {
        // Too slow past one another for the time to mean anything.
        (0.0, finest)
    } else {
        let at = (-p.dot(v) / a).max(0.0).min(dt) / dt;
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
