//! Test worlds of spheres that move much farther than their size.

use carom::Sphere;
use fastrand::Rng;
use glam::Vec3;

use super::World;
use super::sample::{direction, gas_side, in_cube, lattice};

/// Velocity of a fast test sphere: 3000 diameters per step, oblique to the axes, in whole numbers.
const FLIGHT: Vec3 = Vec3::new(2000.0, 1000.0, -2000.0);

/// Returns spheres at rest in a cube, and as many rays (moving spheres of radius 0) that cross it.
pub(crate) fn rays_through_spheres(n: usize, seed: u64) -> World {
    let rng = &mut Rng::with_seed(seed);
    let side = gas_side(n / 2);
    let sphere = |k: usize| {
        let center = in_cube(side, rng);
        match k % 2 {
            0 => Sphere::new(center, 0.5),
            _ => Sphere::new(center, 0.0).with_velocity(direction(rng) * 2.0 * side),
        }
    };
    ("rays through spheres", (0..n).map(sphere).collect(), 1.0)
}

/// Returns fast spheres that fly side by side with one velocity. Neighbours are 1 apart, and each
/// radius is 0.5 or an adjacent float32 number. So neighbours touch exactly, overlap slightly or
/// just miss each other.
pub(crate) fn formation(n: usize, seed: u64) -> World {
    let rng = &mut Rng::with_seed(seed);
    let spheres =
        lattice(n).map(|center| Sphere::new(center, about_half(rng)).with_velocity(FLIGHT));
    ("bullets in formation", spheres.collect(), 1.0)
}

/// Returns fast spheres that fly side by side. Their velocities differ by some ulps, so the gaps between them
/// open and close during the step.
pub(crate) fn ragged_formation(n: usize, seed: u64) -> World {
    let (_, mut spheres, dt) = formation(n, seed);
    let rng = &mut Rng::with_seed(seed);
    for velocity in spheres.iter_mut().flat_map(|sphere| &mut sphere.velocity) {
        for _ in 0..rng.u32(0..3) {
            *velocity = if rng.bool() {
                velocity.next_up()
            } else {
                velocity.next_down()
            };
        }
    }
    ("bullets in a ragged formation", spheres, dt)
}

/// Returns a lattice of spheres at rest, and as many fast spheres that fly between its rows. Each
/// fast sphere touches every sphere of two rows exactly, or misses or overlaps it by an ulp of a
/// radius.
pub(crate) fn formation_through_lattice(n: usize, seed: u64) -> World {
    let rng = &mut Rng::with_seed(seed);
    let resting = lattice(n / 2).map(|site| Sphere::new(site * 2.0, 0.5));
    let length = 2.0 * (n as f32).cbrt() + 20.0;
    let bullets = lattice(n - n / 2).map(|site| {
        // A fast sphere flies along the x axis, midway between two rows of spheres of the lattice. Its path
        // is at distance 1 from the centres of all spheres in both rows. Fast spheres that follow each other
        // along the x axis are at distance 1 too.
        let start = Vec3::new(-10.0 - site.x, 2.0 * site.y + 1.0, 2.0 * site.z);
        Sphere::new(start, about_half(rng)).with_velocity([2.0 * length, 0.0, 0.0])
    });
    // The spheres are shuffled, so that a fast sphere may be the first or the second sphere of a pair.
    let mut spheres: Vec<_> = resting.collect();
    let bullets: Vec<_> = bullets.collect();
    spheres.extend(bullets);
    rng.shuffle(&mut spheres);
    ("bullets in formation through a lattice", spheres, 1.0)
}

fn about_half(rng: &mut Rng) -> f32 {
    match rng.u32(0..3) {
        0 => 0.5_f32.next_down(),
        1 => 0.5,
        _ => 0.5_f32.next_up(),
    }
}
