//! Fuzz target: in small periodic worlds made from arbitrary bytes, carom must find the same colliding pairs
//! and periodic copies as exact brute force.

#![no_main]

#[path = "../../tests/oracle/mod.rs"]
mod oracle;

include!("bytes.rs");

use carom::Domain;
use oracle::periodic::{Pair, brute_force, brute_force_between};

/// Reads a periodic cell. Its edges are at least 16 units long, unless they are skewed, so that a sphere
/// reaches few periodic copies of other spheres.
fn domain(bytes: &mut Bytes<'_>, unit: f32) -> Domain {
    let kind = bytes.byte();
    let flags = bytes.byte();
    let axes = AXES[usize::from(kind % 3)];
    let mut edges = axes.map(|axis| {
        let times = 16.0 + f32::from(bytes.byte() % 64);
        axis.map(|x| x * times * unit)
    });
    if kind & 0x10 != 0 {
        // Adding a multiple of one edge to another edge skews the periodic cell, but keeps the lattice of
        // periodic copies.
        let times = f32::from(bytes.signed() % 8);
        let [first, second, _] = edges;
        edges[1] = std::array::from_fn(|k| second[k] + first[k] * times);
    }
    if kind & 0x20 != 0 {
        let edge = usize::from(bytes.byte() % 3);
        for x in &mut edges[edge] {
            *x += bytes.multiple(unit) / 16.0;
        }
    }
    if kind & 0x40 != 0 {
        let x = &mut edges[usize::from(bytes.byte() % 3)][usize::from(bytes.byte() % 3)];
        *x = nudged(*x, bytes.signed());
    }
    let origin = if kind & 0x80 != 0 {
        std::array::from_fn(|_| bytes.multiple(unit))
    } else {
        [0.0; 3]
    };
    // The world is periodic along at least one edge of the cell.
    let periodic = [1, 2, 4].map(|bit| (flags % 7 + 1) & bit != 0);
    Domain::triclinic(origin, edges).with_periodic(periodic)
}

fn spheres(bytes: &mut Bytes<'_>, unit: f32, domain: &Domain) -> Vec<Sphere> {
    let mut spheres: Vec<Sphere> = Vec::new();
    while !bytes.0.is_empty() && spheres.len() < MOST {
        let kind = bytes.byte();
        let last = spheres.last().copied().unwrap_or_default();
        let mut sphere = match kind % 4 {
            0 => last,
            // The new sphere touches the previous sphere, or a periodic copy of it, at some time.
            1 => {
                let axes = usize::from(bytes.byte() % 3);
                let [along, across, _] = AXES[axes];
                let [part, miss] = [bytes.signed(), bytes.signed()].map(|x| f32::from(x % 4));
                let center = std::array::from_fn(|k| {
                    last.center[k] + (across[k] * miss - along[k] * part) * unit
                });
                let velocity = std::array::from_fn(|k| last.velocity[k] + along[k] * 2.0 * part * unit);
                let sum = LENGTHS[axes] * miss.abs() * unit;
                Sphere::new(center, (sum - last.radius).max(0.0)).with_velocity(velocity)
            }
            _ => {
                let center = std::array::from_fn(|_| bytes.multiple(unit));
                let radius = f32::from(bytes.byte() % 64) * unit / 4.0;
                let speed = [0.0, 1.0 / 16.0, 0.25, 0.5][usize::from(kind >> 2 & 3)];
                Sphere::new(center, radius)
                    .with_velocity(std::array::from_fn(|_| bytes.multiple(unit * speed)))
            }
        };
        if kind & 0x10 != 0 {
            // Displacing a sphere by multiples of a periodic edge gives one of its periodic copies.
            #[allow(clippy::cast_possible_truncation, reason = "the numbers are float32")]
            let edge = domain.edges()[usize::from(bytes.byte() % 3)].map(|x| x as f32);
            let times = f32::from(bytes.signed());
            sphere.center = std::array::from_fn(|k| sphere.center[k] + edge[k] * times);
        }
        if kind & 0x40 != 0 {
            let field = bytes.byte();
            let ulps = bytes.signed();
            let number = match field % 7 {
                k @ 0..3 => &mut sphere.center[usize::from(k)],
                k @ 3..6 => &mut sphere.velocity[usize::from(k) - 3],
                _ => &mut sphere.radius,
            };
            *number = valid(nudged(*number, ulps));
            sphere.radius = sphere.radius.max(0.0);
        }
        spheres.push(sphere);
    }
    spheres
}

fuzz_target!(|data: &[u8]| {
    let mut bytes = Bytes(data);
    let head = bytes.byte();
    let two_sets = head % 4 == 0;
    let dt = if head & 4 == 0 { 1.0 } else { 0.375 };
    let unit = 2_f32.powi(i32::from(bytes.signed() / 8));
    let domain = domain(&mut bytes, unit);
    let mut spheres = spheres(&mut bytes, unit, &domain);
    // A build with `--cfg carom_fuzzing` cuts paths into a number of time segments that depends on
    // bits 28 to 30 of the first sphere's collision groups. They are set here from the fuzzer's
    // bytes. No sphere belongs to these groups, so the bits do not affect which spheres collide.
    if let Some(first) = spheres.first_mut() {
        first.groups |= u32::from(head >> 5) << 28;
    }
    let (first, second) = spheres.split_at(spheres.len() / 2);
    let step = if two_sets {
        Step::between(first, second, dt)
    } else {
        Step::new(&spheres, dt)
    };
    let found = DETECTOR.with_borrow_mut(|detector| detector.detect(&step.in_domain(&domain)));
    let Ok(found) = found else {
        // carom rejects a periodic cell whose edges are linearly dependent, and a world with too many candidate
        // pairs.
        return;
    };
    let truth = if two_sets {
        brute_force_between(first, second, dt, &domain)
    } else {
        brute_force(&spheres, dt, &domain)
    };
    assert_eq!(found.pairs.len(), found.pairs.images().len());
    let listed: Vec<Pair> =
        found.pairs.iter_with_images().map(|(pair, image)| (pair.a, pair.b, image)).collect();
    assert_eq!(listed, truth, "{domain:?} {spheres:?} {dt}");
});
