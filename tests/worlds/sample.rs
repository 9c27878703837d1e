//! What the worlds are made of: random vectors, and a box of gas.

use carom::Sphere;
use fastrand::Rng;
use glam::Vec3;

/// Uniform in a cube of this side around the origin.
pub(super) fn in_cube(side: f32, rng: &mut Rng) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| (rng.f32() - 0.5) * side))
}

/// A unit vector, uniform over all directions.
pub(super) fn direction(rng: &mut Rng) -> Vec3 {
    loop {
        let inside = in_cube(2.0, rng);
        if (0.001..=1.0).contains(&inside.length_squared()) {
            return inside.normalize();
        }
    }
}

/// 10 to the power of something uniform in −`decades` to `decades`.
pub(super) fn log_uniform(decades: f32, rng: &mut Rng) -> f32 {
    10_f32.powf((2.0 * rng.f32() - 1.0) * decades)
}

/// The side of a cube in which `n` spheres of radius 0.5 take about 5 % of the volume.
pub(super) fn gas_side(n: usize) -> f32 {
    (n as f32 * 10.0).cbrt()
}

/// Spheres of radius 0.5 that move up to 0.5 during a step of 1, about 5 % dense, around `center`.
pub(super) fn gas(n: usize, center: Vec3, rng: &mut Rng) -> Vec<Sphere> {
    let side = gas_side(n);
    let mut sphere = |_| {
        Sphere::new(center + in_cube(side, rng), 0.5)
            .with_velocity(direction(rng) * (0.5 * rng.f32()))
    };
    (0..n).map(&mut sphere).collect()
}

/// The first `n` sites of the smallest cubic lattice of spacing 1 that has as many: whole numbers.
pub(super) fn lattice(n: usize) -> impl Iterator<Item = Vec3> {
    let side = (1..).find(|side: &usize| side.pow(3) >= n).unwrap_or(1);
    (0..n).map(move |site| {
        Vec3::from_array([site % side, site / side % side, site / (side * side)].map(|k| k as f32))
    })
}
