//! Tests pairs of spheres that barely touch, in worlds 2⁸ to 2²⁰ sphere diameters wide. Rounding errors must
//! not put the two spheres of a pair two grid cells apart.
//!
//! Most pairs of spheres in these worlds are in dense clumps. So carom chooses grid cells that are
//! hardly wider than a sphere, however wide the world is.

#![allow(
    clippy::cast_possible_truncation,
    reason = "rounded to float32 on purpose"
)]

use carom::{Backend, Options, Sphere, Step};
use fastrand::Rng;
use glam::DVec3;

use crate::Pairs;
use crate::backends::{both, detector};

/// Number of pairs of spheres in a clump.
const CLUMP: usize = 2048;
/// Volume of a clump divided by its number of pairs of spheres, in cubic sphere diameters. It is so large
/// that spheres of different pairs rarely touch.
const ROOM: f64 = 8.0;
/// Largest number of tested pairs per sphere that the test accepts. If grid cells were much wider than
/// spheres, this number would be exceeded.
const MOST_CANDIDATES: u64 = 512;

fn vector(rng: &mut Rng) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| rng.f64()))
}

/// Returns a random unit vector. One vector in four lies along a grid axis, or along a diagonal of a cell or
/// of its face.
fn direction(rng: &mut Rng) -> DVec3 {
    loop {
        let inside = match rng.u32(0..4) {
            0 => DVec3::from_array(std::array::from_fn(|_| f64::from(rng.i32(-1..=1)))),
            _ => vector(rng) * 2.0 - 1.0,
        };
        if (0.001..=3.0).contains(&inside.length_squared()) {
            return inside.normalize();
        }
    }
}

/// Returns a random pair of spheres near `place`, for a time step of 1. At the start or the end of
/// the step, the distance between the centres is about the sum of the radii. If `bullets` is true,
/// the two spheres share a very large velocity, with a probability of 1/64.
fn pair(place: DVec3, bullets: bool, rng: &mut Rng) -> [Sphere; 2] {
    let at = direction(rng) * (0.7 + 0.3 * rng.f64());
    let common = match rng.u32(0..64) {
        0 if bullets => direction(rng) * (30.0 * rng.f64()),
        0..32 => direction(rng) * rng.f64(),
        _ => DVec3::ZERO,
    };
    // If `late`, the two spheres are to touch only at the end of the step. So their relative
    // velocity is chosen such that they come closer during the whole step.
    let late = rng.u32(0..4) == 0;
    let closing = match late {
        true => at * -rng.f64() + at.cross(direction(rng)) * rng.f64(),
        false => direction(rng) * (0.2 * rng.f64()) * f64::from(rng.u32(0..2)),
    };
    let begin = if late { at - closing } else { at };
    let one = Sphere::new(place.as_vec3(), 0.0).with_velocity(common.as_vec3());
    let other =
        Sphere::new((place + begin).as_vec3(), 0.0).with_velocity((common + closing).as_vec3());

    // The radii are computed from positions that are already rounded to float32. Otherwise,
    // rounding far from the origin would separate the spheres or make them overlap.
    let at = |sphere: &Sphere, t: f64| {
        let [center, velocity] = [sphere.center, sphere.velocity].map(|x| x.map(f64::from));
        DVec3::from(center) + DVec3::from(velocity) * t
    };
    let t = f64::from(u8::from(late));
    let distance = at(&one, t).distance(at(&other, t));
    let hair = match rng.u32(0..3) {
        0 => 1.0,
        1 => 1.0 + 1e-6 * rng.f64(),
        _ => 1.0 + 1e-3 * rng.f64(),
    };
    let radii = radii(distance * hair, rng);
    [(one, radii[0]), (other, radii[1])].map(|(sphere, radius)| Sphere { radius, ..sphere })
}

/// Returns two float32 radii with a ratio of up to 2 : 1. The second radius is the smallest with
/// which they add up to at least `sum`. In one case in four, it is then made one ulp smaller.
#[allow(
    clippy::cast_possible_truncation,
    reason = "rounded to float32 on purpose"
)]
pub(crate) fn radii(sum: f64, rng: &mut Rng) -> [f32; 2] {
    let ratio = if rng.bool() {
        1.0
    } else {
        0.5 + rng.f64() * 1.5
    };
    let one = (sum * ratio / (1.0 + ratio)) as f32;
    let mut other = (sum - f64::from(one)).max(0.0) as f32;
    while f64::from(one) + f64::from(other) < sum {
        other = other.next_up();
    }
    if rng.u32(0..4) == 0 {
        other = other.next_down().max(0.0);
    }
    [one, other]
}

/// Returns a world of `count` pairs of spheres in a cube of the given side. One pair in eight is at a random
/// place, and the others are in clumps.
fn world(side: f64, count: usize, bullets: bool, rng: &mut Rng) -> Pairs {
    let clumps: Vec<DVec3> = (0..count.div_ceil(CLUMP))
        .map(|_| vector(rng) * side)
        .collect();
    let clump = (CLUMP as f64 * ROOM).cbrt();
    let pairs = (0..count).map(|k| {
        let place = match k % 8 {
            0 => vector(rng) * side,
            _ => clumps[k % clumps.len()] + vector(rng) * clump,
        };
        pair(place, bullets, rng)
    });
    Pairs::new(pairs, 1.0)
}

/// Tests that the detector finds all collisions in random worlds: `batches` worlds for each `power`
/// in `powers`. Each world is 2^`power` sphere diameters wide and has `count` pairs of spheres.
/// Every second world has very fast spheres.
fn check(backend: Backend, powers: impl Iterator<Item = i32>, batches: u64, count: usize) {
    let mut detector = detector(backend, Options::default());
    for power in powers {
        let mut colliding = 0;
        for batch in 0..batches {
            let mut rng = Rng::with_seed(batch << 32 | power as u64);
            let bullets = batch % 2 == 1;
            let world = world(2_f64.powi(power), count, bullets, &mut rng);
            let name = format!("2^{power} wide, batch {batch}");
            let (collide, statistics) = world.check(&name, &mut detector);
            assert!(
                collide > count as u64 / 2,
                "{name}: only {collide} of {count} pairs collide"
            );
            assert!(
                bullets || statistics.candidates < MOST_CANDIDATES * statistics.spheres,
                "{name}: the cells are too wide for this test"
            );
            colliding += collide;
        }
        println!("2^{power} wide, {backend:?}: {colliding} colliding pairs, none lost");
    }
}

/// Pairs of equal spheres touch at the start and then fly apart along an axis. The middles of their
/// two paths are as far apart as carom's narrowest grid cells are wide. Far from the origin,
/// rounding must not put the spheres two cells apart.
#[test]
fn pairs_that_fly_apart_are_not_two_cells_apart() {
    const COUNT: usize = 1 << 18;
    const SIDE: f64 = 100_000.0;
    const RADIUS: f32 = 0.37;
    const SPEED: f64 = 0.61;
    let mut rng = Rng::with_seed(3);
    let crowds = COUNT / CLUMP;
    let places: Vec<DVec3> = (0..crowds).map(|_| vector(&mut rng) * SIDE).collect();
    let side = (CLUMP as f64).cbrt();
    let mut spheres = Vec::new();
    for i in 0..COUNT {
        let place = places[i % crowds] + vector(&mut rng) * side;
        let axis = DVec3::AXES[rng.usize(0..3)];
        let sphere = |place: DVec3, velocity: DVec3| {
            Sphere::new(place.as_vec3(), RADIUS).with_velocity(velocity.as_vec3())
        };
        spheres.push(sphere(place, axis * -SPEED));
        spheres.push(sphere(place + axis * 2.0 * f64::from(RADIUS), axis * SPEED));
    }
    both(|detector| {
        let found = detector
            .detect(&Step::new(&spheres, 1.0))
            .unwrap_or_else(|error| panic!("{error}"));
        let listed: Vec<_> = found.pairs.iter().map(|pair| (pair.a, pair.b)).collect();
        let touching: Vec<_> = (0_u32..)
            .step_by(2)
            .take(COUNT)
            .map(|a| (a, a + 1))
            .filter(|&(a, b)| {
                crate::oracle::collides(&spheres[a as usize], &spheres[b as usize], 1.0)
            })
            .collect();
        assert!(touching.len() > COUNT / 4, "too few of the pairs touch");
        let lost = touching
            .iter()
            .filter(|pair| listed.binary_search(pair).is_err());
        assert_eq!(
            lost.count(),
            0,
            "number of lost pairs, of {} that touch",
            touching.len()
        );
    });
}

#[test]
fn touching_pairs_in_neighboring_cells_are_found_on_the_cpu() {
    check(Backend::Cpu, (8..=20).step_by(2), 2, 50_000);
}

#[test]
fn touching_pairs_in_neighboring_cells_are_found_on_the_gpu() {
    check(Backend::Gpu, (8..=20).step_by(2), 2, 5_000);
}

#[test]
#[ignore = "four million pairs in each of thirteen worlds take many minutes"]
fn four_million_touching_pairs_per_world_are_found_on_the_cpu() {
    check(Backend::Cpu, 8..=20, 8, 500_000);
}
