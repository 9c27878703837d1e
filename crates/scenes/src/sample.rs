//! Random numbers for the benchmark scenes.

use fastrand::Rng;
use glam::Vec3;

#[expect(
    clippy::cast_possible_truncation,
    reason = "scenes are float32; rounding is intended"
)]
pub(crate) fn single(x: f64) -> f32 {
    x as f32
}

/// Returns a random point in a cube with edges of length `side` around the origin.
pub(crate) fn in_cube(side: f32, rng: &mut Rng) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| (rng.f32() - 0.5) * side))
}

pub(crate) fn direction(rng: &mut Rng) -> Vec3 {
    loop {
        let inside = in_cube(2.0, rng);
        // The random coordinates are multiples of a small fixed step. So the points very close to
        // the origin lie in few directions, and are rejected.
        if (0.001..=1.0).contains(&inside.length_squared()) {
            return inside.normalize();
        }
    }
}

/// Returns three normally distributed numbers with mean 0 and variance 1, by the method of Box and Muller.
pub(crate) fn normal(rng: &mut Rng) -> Vec3 {
    let mut one = || {
        let radius = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
        single(radius * (std::f64::consts::TAU * rng.f64()).cos())
    };
    Vec3::new(one(), one(), one())
}

/// Returns a random number with a uniformly distributed logarithm.
pub(crate) fn log_uniform(range: &std::ops::Range<f32>, rng: &mut Rng) -> f32 {
    let [low, high] = [range.start, range.end].map(|x| f64::from(x).ln());
    single((low + (high - low) * rng.f64()).exp())
}
