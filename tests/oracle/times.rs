//! When a pair meets and how deep it overlaps, to ten digits.

use carom::Sphere;

use super::filter::Relative;
use super::{collides, exact};

/// A relative error in float64 beyond which integers are asked.
const SHARP: f64 = 1e-10;

/// The earliest time in [0, dt] at which two spheres touch, with a relative error below 10⁻¹⁰;
/// `None` when they do not. Their groups are not looked at.
pub(crate) fn toi(a: &Sphere, b: &Sphere, dt: f32) -> Option<f64> {
    if !collides(a, b, dt) {
        return None;
    }
    let pair = Relative::new(a, b, dt);
    let outside = pair.outside();
    if outside.value <= -outside.error {
        return Some(0.0);
    }
    // c / (−b + √(b² − a·c)): each of the three with the error it has.
    let (closing, discriminant) = (pair.closing(), pair.discriminant());
    let root = discriminant.value.max(0.0).sqrt();
    let root_error = if discriminant.value > discriminant.error {
        discriminant.error / root
    } else {
        (2.0 * discriminant.error).sqrt()
    };
    let denominator = closing.value + root;
    let error = outside.error / outside.value + (closing.error + root_error) / denominator;
    if error.abs() < SHARP && outside.value > 0.0 && denominator > 0.0 {
        Some((outside.value / denominator).min(f64::from(dt)))
    } else {
        exact::toi(a, b, dt)
    }
}

/// How deep two spheres overlap at the start, with a relative error below 10⁻¹⁰; 0 if they do not.
pub(crate) fn depth(a: &Sphere, b: &Sphere) -> f64 {
    let pair = Relative::new(a, b, 0.0);
    let outside = pair.outside();
    if outside.value >= 0.0 && outside.value >= outside.error {
        0.0
    } else if outside.error < -outside.value * SHARP {
        -outside.value / (pair.r() + pair.distance())
    } else {
        exact::depth(a, b)
    }
}
