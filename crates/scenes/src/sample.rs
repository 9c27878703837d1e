//! Random numbers from the distributions that the scenes use.

use fastrand::Rng;
use glam::Vec3;

/// Returns the float32 nearest to a float64.
#[expect(
    clippy::cast_possible_truncation,
    reason = "scenes are float32; rounding is intended"
)]
pub(crate) fn single(x: f64) -> f32 {
    x as f32
}

/// Returns a uniformly distributed point in a cube of the given edge around the origin.
pub(crate) fn in_cube(side: f32, rng: &mut Rng) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| (rng.f32() - 0.5) * side))
}

/// Returns a unit vector, uniformly distributed over all directions.
pub(crate) fn direction(rng: &mut Rng) -> Vec3 {
    loop {
        let inside = in_cube(2.0, rng);
        // Points close to the centre of the cube are rejected. Their coordinates have few different
        // values, so only few directions would result.
        if (0.001..=1.0).contains(&inside.length_squared()) {
            return inside.normalize();
        }
    }
}

/// Returns three normally distributed random numbers with mean 0 and variance 1, by the method of
/// Box and Muller.
pub(crate) fn normal(rng: &mut Rng) -> Vec3 {
    let mut one = || {
        let radius = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
        single(radius * (std::f64::consts::TAU * rng.f64()).cos())
    };
    Vec3::new(one(), one(), one())
}

/// Returns a random number in the given range, whose logarithm is uniformly distributed.
pub(crate) fn log_uniform(range: &std::ops::Range<f32>, rng: &mut Rng) -> f32 {
    let [low, high] = [range.start, range.end].map(|x| f64::from(x).ln());
    single((low + (high - low) * rng.f64()).exp())
}
