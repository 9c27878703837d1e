//! Degenerate test worlds: all spheres lie on a line or in a plane, meet at one point, have coincident
//! centres, or have a time step of 0.

use carom::Sphere;
use fastrand::Rng;
use glam::Vec3;

use super::World;
use super::sample::{direction, gas, in_cube};

pub(crate) fn line_moving(n: usize, seed: u64) -> World {
    let rng = &mut Rng::with_seed(seed);
    let sphere = |_| {
        Sphere::new([rng.f32() * 4.0 * n as f32, 0.0, 0.0], 0.5).with_velocity([
            10.0 * rng.f32() - 5.0,
            0.0,
            0.0,
        ])
    };
    ("a line, moving along it", (0..n).map(sphere).collect(), 1.0)
}

pub(crate) fn line_at_rest(n: usize, seed: u64) -> World {
    let rng = &mut Rng::with_seed(seed);
    let sphere = |_| Sphere::new([rng.f32() * 2.0 * n as f32, 0.0, 0.0], 0.5);
    ("a line at rest", (0..n).map(sphere).collect(), 1.0)
}

pub(crate) fn oblique_line(n: usize, seed: u64) -> World {
    let rng = &mut Rng::with_seed(seed);
    let sphere = |_| {
        Sphere::new(Vec3::splat((rng.f32() - 0.5) * 2.0 * n as f32), 0.5)
            .with_velocity(Vec3::splat(3.0 * rng.f32() - 1.5))
    };
    (
        "an oblique line, moving along it",
        (0..n).map(sphere).collect(),
        0.5,
    )
}

/// Returns spheres of several sizes with centres in the plane z = 0, like circles in two dimensions.
pub(crate) fn flat(n: usize, seed: u64) -> World {
    let rng = &mut Rng::with_seed(seed);
    let side = (2.0 * n as f32).sqrt();
    let sphere = |_| {
        let in_plane = Vec3::new(1.0, 1.0, 0.0);
        Sphere::new(in_cube(side, rng) * in_plane, 0.2 + 0.3 * rng.f32())
            .with_velocity(in_cube(2.0, rng) * in_plane)
    };
    ("two dimensions", (0..n).map(sphere).collect(), 1.0)
}

/// Returns spheres that fly to the origin from all sides and meet there in the middle of the time step.
pub(crate) fn to_the_center(n: usize, seed: u64) -> World {
    let rng = &mut Rng::with_seed(seed);
    let sphere = |_| {
        let center = direction(rng) * (50.0 + 50.0 * rng.f32());
        Sphere::new(center, 0.5).with_velocity(center * -2.0)
    };
    (
        "everything to the centre",
        (0..n).map(sphere).collect(),
        1.0,
    )
}

pub(crate) fn one_point(n: usize, seed: u64) -> World {
    let rng = &mut Rng::with_seed(seed);
    let sphere =
        |_| Sphere::new([3.0, -7.0, 11.0], 0.5).with_velocity(direction(rng) * (0.01 * rng.f32()));
    ("one point", (0..n).map(sphere).collect(), 1.0)
}

pub(crate) fn all_equal(n: usize) -> World {
    let sphere = Sphere::new([0.1, 0.2, 0.3], 0.7).with_velocity([100.0, 20.0, -30.0]);
    ("all equal", vec![sphere; n], 1.0)
}

/// Returns points (spheres of radius 0) at rest, four at each place.
pub(crate) fn coinciding_points(n: usize) -> World {
    let place = |site: usize| [site % 17, site / 17 % 19, site / 323].map(|k| k as f32 * 0.1);
    let points = (0..n).map(|k| Sphere::new(place(k / 4), 0.0));
    ("coinciding points", points.collect(), 1.0)
}

/// Returns spheres with high velocities and a time step of 0, so that nothing moves.
pub(crate) fn stopped_clock(n: usize, seed: u64) -> World {
    let rng = &mut Rng::with_seed(seed);
    let mut spheres = gas(n, Vec3::ZERO, rng);
    for sphere in &mut spheres {
        sphere.velocity = (direction(rng) * 1e9).to_array();
    }
    ("a step of no time", spheres, 0.0)
}
