//! Decides which of the time segments of two spheres *own* the pair of spheres. Twin of
//! `shaders/shared/ownership.wgsl`. In the error bounds, ε is 2⁻²³.

#![allow(
    clippy::cast_possible_truncation,
    reason = "segments are clamped before they become integers"
)]

use glam::Vec3;

use super::filter::{EPSILON, SLOW};
use super::scaled_sphere::ScaledSphere;
use super::tag::{SEGMENT_BITS, segment_of, segment_power};

/// The rounding error of t/dt, for the time t of closest approach, is at most this constant
/// times ε·(P / (V·dt) + t/dt + 1): P is the sum of the magnitudes of the components of the
/// relative position, V the largest of the relative velocity.
pub(crate) const TIME: f32 = 8.0;
/// Two spheres count as at rest relative to each other if their motion along each axis is at
/// most this constant times ε times the largest component of their relative position. Their
/// first segments then own the pair, and cells have a margin for that.
pub(crate) const STILL: f32 = 3.0;

/// Two segments own a pair if both contain the time of closest approach in the step. If the
/// spheres touch, they touch then, so the search finds these segments (docs/exact.md, section
/// 3).
///
/// `tags` have the segments. `displaced` is the relative position if one sphere is an image.
pub(crate) fn ownership(
    [i, j]: [&ScaledSphere; 2],
    displaced: Option<Displaced>,
    tags: [u32; 2],
    dt: f32,
) -> Ownership {
    let displaced = displaced.unwrap_or_else(|| Displaced {
        p: Vec3::from(j.center) - Vec3::from(i.center),
        certain: true,
    });
    let p = displaced.p;
    let v = Vec3::from(j.velocity) - Vec3::from(i.velocity);
    let a = v.length_squared();
    let finest = (1_u32 << SEGMENT_BITS) as f32;
    let speed = v.abs().max_element();
    let (low, high) = if !displaced.certain {
        (0.0, finest)
    } else if speed * dt <= STILL * EPSILON * p.abs().max_element() {
        (0.0, 0.0)
    } else if a < SLOW {
        // The time of closest approach cannot be computed.
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

#[derive(Clone, Copy, Debug)]
pub(crate) struct Displaced {
    pub(crate) p: Vec3,
    /// Whether `p` has a relative error of at most ε. Otherwise, any segment may have to
    /// report the pair.
    pub(crate) certain: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ownership {
    Own,
    Other,
    /// All segments that may contain the closest approach report the pair, and repeats are
    /// removed later.
    Shared,
}
