//! Test worlds of unusual or mixed scales.

use carom::Sphere;
use fastrand::Rng;
use glam::Vec3;

use super::World;
use super::sample::{direction, gas, gas_side, in_cube, log_uniform};

/// Returns one giant sphere, and spheres a thousand times smaller, most of them near its surface.
pub(crate) fn giant_in_dust(n: usize, seed: u64) -> World {
    let rng = &mut Rng::with_seed(seed);
    let (giant, grain) = (50.0, 0.05);
    let dust = |k: usize| {
        let distance = match k % 4 {
            0 => giant * 1.2 * rng.f32(),
            _ => giant + (rng.f32() - 0.4),
        };
        Sphere::new(direction(rng) * distance, grain).with_velocity(direction(rng) * 0.2)
    };
    let mut spheres: Vec<_> = (1..n).map(dust).collect();
    // The giant sphere is in the middle of the list, so that it is the first sphere of some pairs and the
    // second sphere of others.
    spheres.insert(
        spheres.len() / 2,
        Sphere::new([0.0; 3], giant).with_velocity([0.05, -0.02, 0.01]),
    );
    ("one giant in dust", spheres, 1.0)
}

/// Returns a cube of spheres around the origin, and one sphere more than 10⁹ away.
pub(crate) fn stray(n: usize, seed: u64) -> World {
    let mut spheres = gas(n.saturating_sub(1), Vec3::ZERO, &mut Rng::with_seed(seed));
    spheres.push(Sphere::new([1e9, -1e9, 0.0], 0.5).with_velocity([0.3, 0.0, 0.0]));
    ("a stray at 1e9", spheres, 1.0)
}

/// Returns a cube of spheres around the origin, and one sphere that comes from more than 10⁹ away and crosses
/// the cube.
pub(crate) fn stray_inbound(n: usize, seed: u64) -> World {
    let mut spheres = gas(n.saturating_sub(1), Vec3::ZERO, &mut Rng::with_seed(seed));
    spheres.insert(
        0,
        Sphere::new([1e9, -1e9, 0.0], 0.5).with_velocity([-1.5e9, 1.5e9, 0.0]),
    );
    ("a stray that comes in from 1e9", spheres, 1.0)
}

/// Returns a cube of spheres so far from the origin that float32 coordinates have only seven bits after the
/// binary point.
pub(crate) fn far_off(n: usize, seed: u64) -> World {
    let center = Vec3::new(1e5, -1e5, 1.2e5);
    (
        "1e5 from the origin",
        gas(n, center, &mut Rng::with_seed(seed)),
        1.0,
    )
}

/// Returns a cube of spheres about 2·10⁵ from the origin. A common velocity moves all of them by about 4·10⁵
/// during the step, and leaves few digits for their individual velocities.
pub(crate) fn far_off_in_flight(n: usize, seed: u64) -> World {
    let (_, mut spheres, _) = far_off(n, seed);
    for sphere in &mut spheres {
        sphere.velocity = (Vec3::from(sphere.velocity) + Vec3::new(-2e5, 3e5, 1e5)).to_array();
    }
    ("1e5 from the origin, flying", spheres, 1.0)
}

/// Returns spheres with radii of about a micrometre, in units of metres and seconds.
pub(crate) fn micrometers(n: usize, seed: u64) -> World {
    let rng = &mut Rng::with_seed(seed);
    let side = gas_side(n) * 2e-6;
    let sphere = |_| {
        Sphere::new(in_cube(side, rng), 1e-6 * (0.5 + 0.5 * rng.f32()))
            .with_velocity(direction(rng) * (1e-3 * rng.f32()))
    };
    ("micrometers", (0..n).map(sphere).collect(), 1e-3)
}

/// Returns spheres whose distances from the origin, radii and speeds range from 10⁻¹² to 10¹². Even so, about
/// half of all pairs touch.
pub(crate) fn wild_scales(n: usize, seed: u64) -> World {
    let rng = &mut Rng::with_seed(seed);
    let sphere = |_| {
        let center = direction(rng) * log_uniform(12.0, rng);
        let sphere = Sphere::new(center, log_uniform(12.0, rng));
        sphere.with_velocity(direction(rng) * log_uniform(12.0, rng))
    };
    ("wild scales", (0..n).map(sphere).collect(), 1.0)
}
