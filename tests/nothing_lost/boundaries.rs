//! Tests pairs of spheres whose closest approach is at, or a few ulps from, a boundary between time
//! segments. carom cuts long paths into time segments, and only the two segments that contain the
//! time of closest approach report a pair.
//!
//! All coordinates and displacements are multiples of [`GRAIN`], so that the times of closest approach are
//! exact.

use carom::{Backend, Options, Sphere};
use fastrand::Rng;
use glam::DVec3;

use crate::Pairs;
use crate::backends::detector;
use crate::neighbors::radii;

/// All coordinates in this test are multiples of this unit. Such coordinates are exact in float32 up to 2¹⁴.
const GRAIN: f64 = 1.0 / 1024.0;
/// Distance between neighbouring pairs of spheres. It is about the largest length of the time segments into
/// which carom cuts long paths.
const APART: f64 = 8.0;
/// Triples of directions. The first vector is the direction of a relative velocity, and the other two are
/// exactly perpendicular to it.
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

/// Returns a random n, for a path that carom cuts into 2ⁿ time segments. n is mostly 1 to 4. Above
/// 5, each n is half as likely as n − 1, because it makes twice as many segments.
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

/// Returns a random displacement, which is a multiple of `unit`. It is so long that carom cuts the
/// sphere's path into about 2^power time segments.
fn flight(power: i32, unit: f64, rng: &mut Rng) -> DVec3 {
    let longest = APART * 2_f64.powi(power) * (0.5 + 0.5 * rng.f64());
    let vector = DVec3::from_array(std::array::from_fn(|_| rng.f64() * 2.0 - 1.0));
    let scaled = vector * (longest / vector.abs().max_element().max(0.1));
    (scaled / unit).round() * unit
}

/// Returns two spheres with their closest approach near the point `place`, at a time k·dt/2ⁿ in a
/// step of length dt. Such a time is a boundary between time segments.
fn pair(place: DVec3, dt: f64, rng: &mut Rng) -> [Sphere; 2] {
    let power = power(rng);
    let cuts = 1_u64 << rng.i32(1..=power);
    let part = match rng.u32(0..16) {
        0 => 0.0,
        1 => 1.0,
        _ => rng.u64(0..=cuts) as f64 / cuts as f64,
    };
    // The unit of all coordinates is `GRAIN`. Each sphere's displacement during the step is a
    // multiple of `cuts` · `GRAIN`. The closest approach is after k/`cuts` of the step, for an
    // integer k. So each displacement until then is a multiple of `GRAIN`, and the coordinates at
    // the closest approach are exact.
    let unit = GRAIN * cuts as f64;
    let [along, across, up] = FLIGHTS[rng.usize(0..FLIGHTS.len())];
    let longest = APART * 2_f64.powi(power) * (0.5 + 0.5 * rng.f64()) / along.abs().max_element();
    let relative = along * ((longest / unit).round().max(1.0) * unit);
    let own = match rng.u32(0..4) {
        0 | 1 => DVec3::ZERO,
        // In a quarter of the pairs, both spheres move, at similar speeds.
        2 => flight(power, unit, rng),
        // In a quarter of the pairs, both spheres move along parallel lines, towards each other or one
        // behind the other.
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

fn nudge(sphere: &mut Sphere, rng: &mut Rng) {
    let field = if rng.bool() {
        &mut sphere.center
    } else {
        &mut sphere.velocity
    };
    let x = &mut field[rng.usize(0..3)];
    let up = rng.bool();
    // The number `x` is changed by a few ulps. Near 0, ulps are so small that this would have no effect, so
    // such a number is first increased by 0.001.
    if x.abs() < 1e-3 {
        *x += 1e-3;
    }
    for _ in 0..rng.u32(1..=4) {
        *x = if up { x.next_up() } else { x.next_down() };
    }
}

/// Returns a world of `count` pairs of spheres. The closest approach of each pair is near a site of a cubic
/// lattice, at a boundary between time segments.
fn world(count: usize, dt: f32, rng: &mut Rng) -> Pairs {
    let side = (1..).find(|side: &usize| side.pow(3) >= count).unwrap_or(1);
    let pairs = (0..count).map(|site| {
        let site = [site % side, site / side % side, site / (side * side)];
        let place = DVec3::from(site.map(|k| (k as f64 - side as f64 / 2.0).round() * APART));
        pair(place, f64::from(dt), rng)
    });
    Pairs::new(pairs, dt)
}

fn check(backend: Backend, batches: usize, count: usize) {
    let mut detector = detector(backend, Options::default());
    // The closest approaches are planned at boundaries between time segments. A velocity is a displacement
    // divided by the time step. If the time step is a power of two, this division is exact. With a time step
    // of 0.1, the velocities are rounded, so the times of closest approach differ from the boundaries by some
    // ulps.
    let steps = [1.0, 0.1, 1.0 / 1024.0];
    let mut colliding = 0;
    for batch in 0..batches {
        let world = world(count, steps[batch % 3], &mut Rng::with_seed(batch as u64));
        let name = format!("segment boundaries, batch {batch}");
        let (collide, statistics) = world.check(&name, &mut detector);
        assert!(
            (count as u64 / 2..count as u64).contains(&collide),
            "{name}: {collide} of {count} pairs collide, expected at least half of them but not all"
        );
        assert!(
            statistics.proxies > 4 * statistics.spheres,
            "{name}: hardly any sphere was cut into segments"
        );
        colliding += collide;
    }
    println!("segment boundaries, {backend:?}: {colliding} colliding pairs, none lost or doubled");
}

#[test]
fn closest_approaches_at_segment_boundaries_are_found_on_the_cpu() {
    check(Backend::Cpu, 3, 50_000);
}

#[test]
fn closest_approaches_at_segment_boundaries_are_found_on_the_gpu() {
    check(Backend::Gpu, 3, 15_000);
}

#[test]
#[ignore = "twenty million pairs of bullets take many minutes"]
fn twenty_million_closest_approaches_at_segment_boundaries_are_found_on_the_cpu() {
    check(Backend::Cpu, 50, 400_000);
}

#[test]
#[ignore = "a million pairs of bullets take many minutes on a software driver"]
fn a_million_closest_approaches_at_segment_boundaries_are_found_on_the_gpu() {
    check(Backend::Gpu, 20, 50_000);
}
