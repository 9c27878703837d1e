//! Random float64 numbers with all digits.

use fastrand::Rng;

/// A random number from −1 to 1.
pub(crate) fn unit(rng: &mut Rng) -> f64 {
    2.0 * rng.f64() - 1.0
}

pub(crate) fn vector(rng: &mut Rng, size: f64) -> [f64; 3] {
    [0; 3].map(|_| size * unit(rng))
}
