//! Which time segments of two spheres report the pair. Twin of
//! `shaders/shared/ownership.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "segments are clamped before they become integers"
)]

use glam::Vec3;

use super::filter::{EPSILON, SLOW};
use super::scaled_sphere::ScaledSphere;
use super::tag::{SEGMENT_BITS, segment_of, segment_power};

/// Largest error of the time of closest approach, as a part of the step, in units of
/// ε·(|p| / (|v|·dt) + 1).
pub(crate) const TIME: f32 = 8.0;
/// Two spheres that move less than this times ε·|p| past one another in the
/// whole step belong to their first segments: if they ever touch, they are in
/// reach of one another there too, by the margin of their cells.
pub(crate) const STILL: f32 = 3.0;

/// Whether a pair of spheres belongs to two of their time segments, given by the tags of the
/// proxies. It belongs to the segments that contain the time of closest approach: there the
/// spheres are in reach of one another, so the proxies are neighbours in the grid.
pub(crate) fn ownership([i, j]: [&ScaledSphere; 2], tags: [u32; 2], dt: f32) -> Ownership {
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
    /// It belongs to these two alone.
    Own,
    /// It belongs to other ones.
    Other,
    /// Rounding leaves open to which: all proxies that it may belong to report it.
    Shared,
}
