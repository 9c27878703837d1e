//! Random worlds in periodic domains, and their comparison with exact arithmetic.

#![allow(
    dead_code,
    reason = "shared by several tests, each of which uses a part"
)]
#![allow(
    clippy::cast_possible_truncation,
    reason = "random numbers are rounded to float32"
)]

use carom::{Collisions, Detector, Domain, Error, Sphere, Statistics, Step};
use fastrand::Rng;
use glam::{DVec3, Vec3};

use crate::oracle::periodic::{Pair, brute_force, brute_force_between, motion};

/// Returns the colliding pairs of a step, each with the image (periodic copy) of the second sphere.
pub(crate) fn listed(found: &Collisions) -> Vec<Pair> {
    assert_eq!(found.pairs.len(), found.pairs.images().len());
    let pairs = found.pairs.iter_with_images();
    pairs.map(|(pair, image)| (pair.a, pair.b, image)).collect()
}

#[derive(Debug)]
pub(crate) struct World {
    domain: Domain,
    first: Vec<Sphere>,
    second: Option<Vec<Sphere>>,
    dt: f32,
}

impl World {
    /// Returns a random world. Each of its spheres is in or near the periodic cell, or displaced from
    /// there by at most n cells along each edge. n is 0, 1 or `farthest`, the same for all spheres of
    /// the world.
    pub(crate) fn new(rng: &mut Rng, farthest: i32) -> Self {
        let (domain, size) = random_domain(rng);
        let edges = domain.edges().map(DVec3::from);
        // The width of the periodic cell is between half the diameter of the largest sphere and many
        // such diameters.
        let radius = size * [1.0, 0.4, 0.1, 0.02][rng.usize(..4)];
        let speed = size * [0.0, 0.05, 0.5, 6.0][rng.usize(..4)];
        let far = [0, 0, 1, farthest][rng.usize(..4)];
        let drift = if rng.u8(..4) == 0 { 40.0 * size } else { 0.0 };
        let on_faces = rng.u8(..3) == 0;
        let count = rng.usize(1..9);
        let sphere = |rng: &mut Rng| {
            let parts: [f64; 3] = std::array::from_fn(|_| {
                if on_faces && rng.bool() {
                    f64::from(rng.i32(-2..5)) * 0.25 + near_nothing(rng)
                } else {
                    rng.f64()
                }
            });
            let mut center = DVec3::from(domain.origin());
            for (edge, part) in edges.iter().zip(parts) {
                center += *edge * (part + f64::from(rng.i32(-far..=far)));
            }
            let radius = match rng.u8(..4) {
                0 => 0.0,
                1 => radius,
                _ => radius * rng.f64(),
            };
            let direction = DVec3::new(rng.f64() - 0.5, rng.f64() - 0.5, rng.f64() - 0.5);
            let mut velocity = direction * speed + DVec3::new(drift, 0.0, 0.0);
            if rng.u8(..5) == 0 {
                velocity = DVec3::new(drift, 0.0, 0.0);
            }
            Sphere::new(center.as_vec3(), radius as f32).with_velocity(velocity.as_vec3())
        };
        let mut first: Vec<Sphere> = (0..count).map(|_| sphere(rng)).collect();
        // In fuzzing builds, carom takes the length of time segments (parts of long paths) from
        // some bits of the first sphere's groups. No sphere is a member of these groups, so the
        // bits have no other effect.
        first[0] = first[0].with_groups(0, rng.u16(..6) << 12);
        let second =
            (rng.u8(..3) == 0).then(|| (0..rng.usize(1..6)).map(|_| sphere(rng)).collect());
        let dt = if rng.u8(..8) == 0 { 0.0 } else { 1.0 };
        Self {
            domain,
            first,
            second,
            dt,
        }
    }

    fn step(&self) -> Step<'_> {
        match &self.second {
            None => Step::new(&self.first, self.dt),
            Some(second) => Step::between(&self.first, second, self.dt),
        }
        .in_domain(&self.domain)
    }

    fn truth(&self) -> Vec<Pair> {
        let Self {
            domain,
            first,
            second,
            dt,
        } = self;
        match second {
            None => brute_force(first, *dt, domain),
            Some(second) => brute_force_between(first, second, *dt, domain),
        }
    }

    /// Compares the collisions of this world with exact arithmetic, and returns their number. Returns
    /// `None` if a sphere is too many cells away from the periodic cell for the detector.
    pub(crate) fn check(&self, detector: &mut Detector) -> Option<usize> {
        let found = match detector.detect(&self.step()) {
            Ok(found) => found,
            Err(Error::ImageOutOfRange { .. }) => return None,
            Err(error) => panic!("{error}: {self:#?}"),
        };
        let truth = self.truth();
        assert_eq!(listed(&found), truth, "{self:#?}");
        let others = self.second.as_ref().unwrap_or(&self.first);
        for (pair, image) in found.pairs.iter_with_images() {
            let [a, b] = [&self.first[pair.a as usize], &others[pair.b as usize]];
            let exact = motion(a, b, &self.domain, image);
            assert!(
                exact.rounds_to_depth(pair.depth),
                "{pair:?} {image:?} {self:#?}"
            );
            assert!(
                exact.rounds_to_toi(pair.toi),
                "{pair:?} {image:?} {self:#?}"
            );
        }
        Some(truth.len())
    }
}

/// Returns small spheres (dust) on one face of a periodic cell, among large spheres. The domain is
/// periodic along one edge, which is oblique. So the copies of the dust on the opposite face are
/// also displaced parallel to this face.
pub(crate) fn dust_in_an_oblique_channel() -> (Vec<Sphere>, Domain) {
    let mut rng = Rng::with_seed(1);
    let edges = [[16.0, 0.0, 0.25], [0.0, 16.0, 0.0], [0.0, 0.0, 16.0]];
    let domain = Domain::triclinic([0.0; 3], edges).with_periodic([true, false, false]);
    let mut between = |low: f32, high: f32| low + (high - low) * rng.f32();
    let mut spheres: Vec<Sphere> = (0..200)
        .map(|_| [between(-0.01, 0.01), between(0.0, 4.0), between(2.0, 6.0)])
        .map(|center| Sphere::new(center, 0.1))
        .collect();
    spheres.extend((0..8).map(|_| {
        let center = [between(0.0, 16.0), between(0.0, 8.0), between(0.0, 8.0)];
        Sphere::new(center, 4.0)
    }));
    (spheres, domain)
}

/// Panics if any two spheres or copies of spheres have been tested more than once.
pub(crate) fn assert_each_pair_is_tested_once(found: &Collisions) {
    let Statistics {
        candidates,
        proxies,
        ..
    } = found.statistics;
    assert!(
        candidates <= proxies * (proxies - 1) / 2,
        "{candidates} tests of {proxies} spheres and copies"
    );
}

/// Returns 0 or a tiny number. The caller adds it to a coordinate that is a fraction of a periodic
/// edge, to put a centre on a face of the periodic cell or a few ulps beside it.
fn near_nothing(rng: &mut Rng) -> f64 {
    [0.0, 1e-7, -1e-7, 1e-8][rng.usize(..4)]
}

/// Returns a random periodic domain, and the approximate smallest distance between opposite faces of its
/// cell.
fn random_domain(rng: &mut Rng) -> (Domain, f64) {
    let scale = [1.0, 1.0, 1e-20, 3e8][rng.usize(..4)];
    let mut length = || scale * [1.0, 1.0, 0.7, 8.0][rng.usize(..4)];
    let mut edges = [[0.0_f32; 3]; 3];
    for (k, edge) in edges.iter_mut().enumerate() {
        edge[k] = length();
    }
    let size = f64::from(edges[0][0].min(edges[1][1]).min(edges[2][2]));
    match rng.u8(..4) {
        // A skewed periodic cell in the convention of LAMMPS.
        0 => {
            edges[1][0] = scale * (rng.f32() - 0.5);
            edges[2][0] = scale * (rng.f32() - 0.5);
            edges[2][1] = scale * (rng.f32() - 0.5);
        }
        // A periodic cell with edges in arbitrary directions.
        1 => {
            for x in edges.as_flattened_mut() {
                *x += scale * 0.6 * (rng.f32() - 0.5);
            }
        }
        // A periodic cell so skewed that one edge is many times as long as the cell is wide.
        2 => {
            let times = rng.i32(1..40) as f32;
            let [first, second, third] = edges.map(Vec3::from);
            let second = second + times * first;
            edges = [first, second, third - second].map(|edge| edge.to_array());
        }
        _ => {}
    }
    let origin = [rng.f32() - 0.5, 0.0, 100.0 * rng.f32()].map(|x| x * scale);
    let periodic = match rng.u8(..3) {
        0 => [rng.bool(), rng.bool(), true],
        _ => [true; 3],
    };
    (
        Domain::triclinic(origin, edges).with_periodic(periodic),
        size,
    )
}

/// Returns random spheres, some very fast, in a periodic box. All coordinates are multiples of 2⁻¹⁰.
pub(crate) fn gas(rng: &mut Rng, count: usize, length: i32) -> (Vec<Sphere>, Domain) {
    let part = |rng: &mut Rng, most: i32| rng.i32(0..most * 1024) as f32 / 1024.0;
    let sphere = |rng: &mut Rng| {
        let center = [0, 1, 2].map(|_| part(rng, length) - 3.0);
        let velocity = [0, 1, 2].map(|_| part(rng, 2) - 1.0);
        let fast = if rng.u8(..20) == 0 { 40.0 } else { 1.0 };
        Sphere::new(center, 0.125 + part(rng, 1) * 0.5).with_velocity(velocity.map(|v| v * fast))
    };
    let spheres = (0..count).map(|_| sphere(rng)).collect();
    (spheres, Domain::rectangular([-3.0; 3], [length as f32; 3]))
}
