//! Pairs that float64 cannot tell, nearer to tangency than 10⁻¹⁵ of their size: the library decides
//! in float64, so there, and only there, it may say otherwise than the oracle, but the list must
//! still say what the library's own test of two spheres says. Tests name such pairs and count them.

#![allow(
    dead_code,
    reason = "shared by several tests, each of which uses a part"
)]

use carom::{Sphere, time_of_impact};

use crate::oracle;

/// Whether two spheres collide, as far as float64 can tell, and beyond that, as the library says
/// of the two alone. So a list that lacks one that collides has lost it.
pub(crate) fn collides(a: &Sphere, b: &Sphere, dt: f32) -> bool {
    oracle::filter::collides(a, b, dt).unwrap_or_else(|| time_of_impact(a, b, dt).is_some())
}

/// Whether the library says otherwise than the truth of a pair that float64 cannot tell.
pub(crate) fn misjudged(a: &Sphere, b: &Sphere, dt: f32) -> bool {
    collides(a, b, dt) != oracle::collides(a, b, dt)
}
