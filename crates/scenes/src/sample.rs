//! Random numbers of the distributions that the scenes are made of.

use fastrand::Rng;
use glam::Vec3;

/// A float64 as the nearest float32.
#[expect(
    clippy::cast_possible_truncation,
    reason = "scenes are float32; rounding is meant"
)]
pub(crate) fn single(x: f64) -> f32 {
    x as f32
}

/// Uniform in a cube of this side around the origin.
pub(crate) fn in_cube(side: f32, rng: &mut Rng) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| (rng.f32() - 0.5) * side))
}

/// A unit vector, uniform over all directions.
pub(crate) fn direction(rng: &mut Rng) -> Vec3 {
    loop {
        let inside = in_cube(2.0, rng);
        // Not so near the centre that few directions are left.
        if (0.001..=1.0).contains(&inside.length_squared()) {
            return inside.normalize();
        }
    }
}

/// Three normally distributed numbers of variance 1 (Box and Muller).
pub(crate) fn normal(rng: &mut Rng) -> Vec3 {
    let mut one = || {
        let radius = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
        single(radius * (std::f64::consts::TAU * rng.f64()).cos())
    };
    Vec3::new(one(), one(), one())
}

/// A number whose logarithm is uniform over that of the range.
pub(crate) fn log_uniform(range: &std::ops::Range<f32>, rng: &mut Rng) -> f32 {
    let [low, high] = [range.start, range.end].map(|x| f64::from(x).ln());
    single((low + (high - low) * rng.f64()).exp())
}
