//! Fuzz target: in small worlds of float64 numbers made from arbitrary bytes, in open space and in periodic domains,
//! carom's list of collisions must be that of exact brute force, with the nearest times and depths.

#![no_main]

#[path = "../../tests/oracle/dyadic.rs"]
mod dyadic;

use carom::{Collision64, Domain, HardSphere};
use dyadic::{Motion, near};

include!("input.rs");

/// The oracle in float64 takes longer for each image than that in float32.
const MOST_CANDIDATES: u64 = 1 << 16;

const MAX_MAGNITUDE: f64 = 1e100;

impl Bytes<'_> {
    fn any(&mut self) -> f64 {
        valid(f64::from_le_bytes(self.take()))
    }

    /// Reads a small multiple of `unit`, a power of two. Such multiples and their exact sums are often equal to one
    /// another.
    fn multiple(&mut self, unit: f64) -> f64 {
        f64::from(self.signed()) * unit
    }

    /// Reads a power of two from 2⁻²⁵⁶ to 2²⁵⁴. Half of all bytes give a power near 1.
    fn unit(&mut self) -> f64 {
        let x = i32::from(self.signed());
        2_f64.powi(if x % 2 == 0 { x / 16 } else { 2 * x })
    }
}

/// Clamps `x` to the range that carom accepts, or returns 0 if `x` is not finite.
fn valid(x: f64) -> f64 {
    if x.is_finite() { x.clamp(-MAX_MAGNITUDE, MAX_MAGNITUDE) } else { 0.0 }
}

/// Returns a number 0 to 3 ulps from `x`, in the direction of the sign of `ulps`.
fn nudged(x: f64, ulps: i8) -> f64 {
    let step = |x: f64| if ulps > 0 { x.next_up() } else { x.next_down() };
    (0..ulps.unsigned_abs() % 4).fold(x, |x, _| step(x))
}

fn spheres(bytes: &mut Bytes<'_>, length: f64, speed: f64, dt: f64) -> Vec<HardSphere> {
    let mut spheres: Vec<HardSphere> = Vec::new();
    while !bytes.0.is_empty() && spheres.len() < MOST {
        let kind = bytes.byte();
        let last = spheres.last().copied();
        let mut sphere = match (kind % 8, last) {
            (0, _) => HardSphere::new(std::array::from_fn(|_| bytes.any()), bytes.any().abs())
                .with_velocity(std::array::from_fn(|_| bytes.any())),
            (4, Some(last)) => last,
            (5.., Some(last)) => {
                let axes = usize::from(bytes.byte()) % 3;
                let [along, across, _] = AXES[axes].map(|axis| axis.map(f64::from));
                let [part, miss] = [bytes.signed(), bytes.signed()].map(f64::from);
                let velocity: [f64; 3] = std::array::from_fn(|k| last.velocity[k] + along[k] * speed);
                let center = std::array::from_fn(|k| {
                    let relative = velocity[k] - last.velocity[k];
                    last.center[k] + across[k] * miss * length - relative * dt * part / 64.0
                });
                let sum = f64::from(LENGTHS[axes]) * miss.abs() * length;
                HardSphere::new(center, (sum - last.radius).max(0.0)).with_velocity(velocity)
            }
            _ => HardSphere::new(
                std::array::from_fn(|_| bytes.multiple(length)),
                bytes.multiple(length).abs(),
            )
            .with_velocity(std::array::from_fn(|_| bytes.multiple(speed))),
        };
        if kind & 0x40 != 0 {
            let (field, ulps) = (bytes.byte(), bytes.signed());
            let number = match field % 7 {
                k @ 0..3 => &mut sphere.center[usize::from(k)],
                k @ 3..6 => &mut sphere.velocity[usize::from(k) - 3],
                _ => &mut sphere.radius,
            };
            *number = nudged(*number, ulps);
        }
        sphere.center = sphere.center.map(valid);
        sphere.velocity = sphere.velocity.map(valid);
        sphere.radius = valid(sphere.radius).max(0.0);
        spheres.push(sphere);
    }
    spheres
}

/// Reads a periodic cell whose edges are not much shorter than `length` times 16.
fn domain(bytes: &mut Bytes<'_>, length: f64) -> Domain {
    let mut edges = [[0.0; 3]; 3];
    for (k, edge) in edges.iter_mut().enumerate() {
        for x in edge.iter_mut() {
            *x = bytes.multiple(length * 0.125);
        }
        edge[k] += 48.0 * length;
        edge[k] = nudged(edge[k], bytes.signed());
    }
    let periodic = bytes.byte();
    let periodic = [0, 1, 2].map(|k| periodic >> k & 1 == 1);
    Domain::triclinic_f64([0.0; 3], edges).with_periodic(periodic)
}

fuzz_target!(|data: &[u8]| {
    let mut bytes = Bytes(data);
    let head = bytes.byte();
    let length = bytes.unit();
    let speed = bytes.unit();
    let dt = match head >> 1 & 3 {
        0 => 1.0,
        1 => bytes.any().abs(),
        2 => (length / speed).min(MAX_MAGNITUDE),
        _ => bytes.multiple(1.0 / 16.0).abs(),
    };
    let domain = if head & 1 == 1 { domain(&mut bytes, length) } else { Domain::open() };
    let spheres = spheres(&mut bytes, length, speed, dt);
    // The oracle tests every image in a box around a path. With paths across many cells, this would take minutes.
    let far = |sphere: &HardSphere| {
        sphere.radius + sphere.velocity.map(f64::abs).iter().sum::<f64>() * dt > 128.0 * length
    };
    if !domain.is_open() && spheres.iter().any(far) {
        return;
    }
    let step = Step::new(&spheres, dt).in_domain(&domain);
    let found = DETECTOR.with_borrow_mut(|detector| detector.detect(&step));
    let Ok(found) = found else {
        // carom refuses displacements that are too long, and worlds with too many images or candidates.
        return;
    };
    let mut listed = found.pairs.iter_with_images();
    for (a, one) in spheres.iter().enumerate() {
        for (b, other) in spheres.iter().enumerate().skip(a) {
            for image in near(one, other, dt, &domain, 0.0) {
                if a == b && image <= [0; 3] {
                    continue;
                }
                let motion = Motion::new(one, other, &domain, image);
                if !motion.collide(dt) {
                    continue;
                }
                let world = || format!("({a}, {b}) {image:?} in {domain:?} {spheres:?} {dt:e}");
                let Some((&Collision64 { a: i, b: j, toi, depth }, of_pair)) = listed.next() else {
                    panic!("missing: {}", world());
                };
                assert_eq!((i as usize, j as usize, of_pair), (a, b, image), "{}", world());
                assert!((0.0..=dt).contains(&toi), "{toi:e} {}", world());
                assert!(motion.is_nearest(toi, depth), "{toi:e} {depth:e} {}", world());
            }
        }
    }
    assert_eq!(listed.next(), None, "in {domain:?} {spheres:?} {dt:e}");
});
