//! Building blocks of test worlds.

use carom::Sphere;
use fastrand::Rng;
use glam::Vec3;

/// Returns a random point in a cube with edges of length `side` around the origin.
pub(super) fn in_cube(side: f32, rng: &mut Rng) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| (rng.f32() - 0.5) * side))
}

pub(super) fn direction(rng: &mut Rng) -> Vec3 {
    loop {
        let inside = in_cube(2.0, rng);
        if (0.001..=1.0).contains(&inside.length_squared()) {
            return inside.normalize();
        }
    }
}

/// Returns 10ˣ for a random x in [−`decades`, `decades`].
pub(super) fn log_uniform(decades: f32, rng: &mut Rng) -> f32 {
    10_f32.powf((2.0 * rng.f32() - 1.0) * decades)
}

/// Returns the side of a cube in which `n` spheres of radius 0.5 take about 5 % of the volume.
pub(super) fn gas_side(n: usize) -> f32 {
    (n as f32 * 10.0).cbrt()
}

/// Returns `n` spheres of radius 0.5 that take about 5 % of the volume of a cube around `center`, with speeds
/// of up to 0.5.
pub(super) fn gas(n: usize, center: Vec3, rng: &mut Rng) -> Vec<Sphere> {
    let side = gas_side(n);
    let mut sphere = |_| {
        Sphere::new(center + in_cube(side, rng), 0.5)
            .with_velocity(direction(rng) * (0.5 * rng.f32()))
    };
    (0..n).map(&mut sphere).collect()
}

/// Returns the first `n` sites of the smallest cubic lattice with at least `n` sites. All coordinates are
/// whole numbers.
pub(super) fn lattice(n: usize) -> impl Iterator<Item = Vec3> {
    let side = (1..).find(|side: &usize| side.pow(3) >= n).unwrap_or(1);
    (0..n).map(move |site| {
        Vec3::from_array([site % side, site / side % side, site / (side * side)].map(|k| k as f32))
    })
}
