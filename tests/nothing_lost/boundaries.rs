//! Bullets whose motion is cut in time: a pair belongs to the segments that contain the time of
//! closest approach, so here that time is where one segment ends and the next begins, or a last bit
//! beside it, and the miss distance anything up to exactly the sum of the radii.
//!
//! All is built in whole multiples of [`GRAIN`], so that neither places nor velocities are rounded,
//! and times of closest approach are what they are meant to be.

use carom::{Backend, Options, Sphere};
use fastrand::Rng;
use glam::DVec3;

use crate::Pairs;
use crate::backends::detector;
use crate::neighbors::radii;

/// What all coordinates are multiples of; 2¹⁴ is the largest that is exact.
const GRAIN: f64 = 1.0 / 1024.0;
/// Distance of neighbouring pairs, and so about the longest segment.
const APART: f64 = 8.0;
/// Directions of flight, as one sphere sees the other, and for each two directions across it that
/// are exactly perpendicular to it.
const FLIGHTS: [[DVec3; 3]; 6] = [
    [DVec3::X, DVec3::Y, DVec3::Z],
    [DVec3::NEG_Y, DVec3::Z, DVec3::X],
    [
        DVec3::Z,
        DVec3::new(3.0, 4.0, 0.0),
        DVec3::new(-4.0, 3.0, 0.0),
    ],
    [
        DVec3::new(1.0, 1.0, 0.0),
        DVec3::new(1.0, -1.0, 0.0),
        DVec3::Z,
    ],
    [
        DVec3::new(-1.0, 2.0, 2.0),
        DVec3::new(2.0, -1.0, 2.0),
        DVec3::new(2.0, 2.0, -1.0),
    ],
    [
        DVec3::new(3.0, -2.0, 1.0),
        DVec3::new(1.0, 2.0, 1.0),
        DVec3::new(2.0, 1.0, -4.0),
    ],
];

/// A power of two of segments: mostly a few, now and then up to the most there can be, in such
/// numbers that all powers come to about as many segments.
fn power(rng: &mut Rng) -> i32 {
    let mut power = rng.i32(1..=4);
    if rng.u32(0..32) == 0 {
        power = 5;
        while power < 15 && rng.bool() {
            power += 1;
        }
    }
    power
}

/// A multiple of `unit` whose longest axis would make 2^power segments.
fn flight(power: i32, unit: f64, rng: &mut Rng) -> DVec3 {
    let longest = APART * 2_f64.powi(power) * (0.5 + 0.5 * rng.f64());
    let vector = DVec3::from_array(std::array::from_fn(|_| rng.f64() * 2.0 - 1.0));
    let scaled = vector * (longest / vector.abs().max_element().max(0.1));
    (scaled / unit).round() * unit
}

/// Two spheres that are nearest at k·dt/2^n, `place` being about where.
fn pair(place: DVec3, dt: f64, rng: &mut Rng) -> [Sphere; 2] {
    let power = power(rng);
    let cuts = 1_u64 << rng.i32(1..=power);
    let part = match rng.u32(0..16) {
        0 => 0.0,
        1 => 1.0,
        _ => rng.u64(0..=cuts) as f64 / cuts as f64,
    };
    // What is a multiple of this is one of the grain at that time.
    let unit = GRAIN * cuts as f64;
    let [along, across, up] = FLIGHTS[rng.usize(0..FLIGHTS.len())];
    let longest = APART * 2_f64.powi(power) * (0.5 + 0.5 * rng.f64()) / along.abs().max_element();
    let relative = along * ((longest / unit).round().max(1.0) * unit);
    let own = match rng.u32(0..4) {
        // Against one at rest.
        0 | 1 => DVec3::ZERO,
        // Both fly, at speeds of one order.
        2 => flight(power, unit, rng),
        // Both fly, head-on, or one after the other.
        _ => (relative * (rng.f64() * 2.0 - 1.0) / unit).round() * unit,
    };
    let miss = match rng.u32(0..8) {
        0 => DVec3::ZERO,
        1 | 2 => across * (GRAIN * f64::from(rng.u32(1..300))),
        _ => {
            let [x, y] = [(); 2].map(|()| GRAIN * f64::from(rng.i32(-200..=200)));
            across * x + up * y
        }
    };
    let sum = match rng.u32(0..4) {
        0 => miss.length() + 1.5 * rng.f64(),
        1 => miss.length() * (1.0 + 1e-6 * rng.f64()),
        _ => miss.length(),
    };
    let radii = radii(sum, rng);
    let velocities = [own, own + relative];
    let meeting = [place, place + miss];
    let mut spheres = [0, 1].map(|i| {
        let start = meeting[i] - velocities[i] * part;
        Sphere::new(start.as_vec3(), radii[i]).with_velocity((velocities[i] / dt).as_vec3())
    });
    if rng.bool() {
        nudge(&mut spheres[rng.usize(0..2)], rng);
    }
    rng.shuffle(&mut spheres);
    spheres
}

/// Moves one number of a sphere by one to four units in its last place.
fn nudge(sphere: &mut Sphere, rng: &mut Rng) {
    let field = if rng.bool() {
        &mut sphere.center
    } else {
        &mut sphere.velocity
    };
    let x = &mut field[rng.usize(0..3)];
    let up = rng.bool();
    // Beside 0 there is nothing to be seen of a last place.
    if x.abs() < 1e-3 {
        *x += 1e-3;
    }
    for _ in 0..rng.u32(1..=4) {
        *x = if up { x.next_up() } else { x.next_down() };
    }
}

/// `count` such pairs about the sites of a cubic lattice.
fn world(count: usize, dt: f32, rng: &mut Rng) -> Pairs {
    let side = (1..).find(|side: &usize| side.pow(3) >= count).unwrap_or(1);
    let pairs = (0..count).map(|site| {
        let site = [site % side, site / side % side, site / (side * side)];
        let place = DVec3::from(site.map(|k| (k as f64 - side as f64 / 2.0).round() * APART));
        pair(place, f64::from(dt), rng)
    });
    Pairs::new(pairs, dt)
}

/// `batches` worlds of `count` pairs.
fn check(backend: Backend, batches: usize, count: usize) {
    let mut detector = detector(backend, Options::default());
    // A step of a power of two keeps all exact; one that is not takes the times off by last bits.
    let steps = [1.0, 0.1, 1.0 / 1024.0];
    let mut colliding = 0;
    for batch in 0..batches {
        let world = world(count, steps[batch % 3], &mut Rng::with_seed(batch as u64));
        let name = format!("span boundaries, batch {batch}");
        let (collide, statistics) = world.check(&name, &mut detector);
        assert!(
            (count as u64 / 2..count as u64).contains(&collide),
            "{name}: not near the border between touching and not"
        );
        assert!(
            statistics.proxies > 4 * statistics.spheres,
            "{name}: hardly anything was cut into segments"
        );
        colliding += collide;
    }
    println!("span boundaries, {backend:?}: {colliding} colliding pairs, none lost or doubled");
}

#[test]
fn closest_approach_at_span_boundaries_on_the_cpu() {
    check(Backend::Cpu, 3, 50_000);
}

#[test]
fn closest_approach_at_span_boundaries_on_the_gpu() {
    check(Backend::Gpu, 3, 15_000);
}

#[test]
#[ignore = "twenty million pairs of bullets take many minutes"]
fn twenty_million_closest_approaches_at_span_boundaries_on_the_cpu() {
    check(Backend::Cpu, 50, 400_000);
}

#[test]
#[ignore = "a million pairs of bullets take many minutes on a software driver"]
fn a_million_closest_approaches_at_span_boundaries_on_the_gpu() {
    check(Backend::Gpu, 20, 50_000);
}
