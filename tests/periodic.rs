//! Periodic domains: the pairs and images of a step are those of exact arithmetic on every image.

mod oracle;

use carom::{Backend, Collisions, Detector, Domain, Options, Sphere, Step};
use fastrand::Rng;
use glam::DVec3;
use oracle::periodic::{Pair, brute_force, brute_force_between, motion};

/// Number of random worlds that every run tests.
const WORLDS: u64 = 20_000;

fn detector() -> Detector {
    Detector::new(Options::new().with_backend(Backend::Cpu)).expect("the CPU is always there")
}

/// Returns the pairs of a list with their images.
fn listed(found: &Collisions) -> Vec<Pair> {
    assert_eq!(found.pairs.len(), found.images.len());
    let pairs = found.pairs.iter().zip(&found.images);
    pairs
        .map(|(pair, &image)| (pair.a, pair.b, image))
        .collect()
}

/// A random world: one or two sets of spheres in a domain.
#[derive(Debug)]
struct World {
    domain: Domain,
    first: Vec<Sphere>,
    second: Option<Vec<Sphere>>,
    dt: f32,
}

impl World {
    fn new(rng: &mut Rng) -> Self {
        let (domain, size) = random_domain(rng);
        let edges = domain.edges().map(|edge| DVec3::from(edge.map(f64::from)));
        // Largest radius, from cells of half a diameter to cells of many diameters.
        let radius = size * [1.0, 0.4, 0.1, 0.02][rng.usize(..4)];
        let speed = size * [0.0, 0.05, 0.5, 6.0][rng.usize(..4)];
        let far = [0, 0, 1, 1000][rng.usize(..4)];
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
            let mut center = DVec3::from(domain.origin().map(f64::from));
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
        // No sphere is a member of the groups that this sphere ignores. In a build with
        // `--cfg carom_fuzzing`, they determine the length of time segments.
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

    /// Checks the list of a step, and returns the number of its pairs.
    fn check(&self, detector: &mut Detector) -> usize {
        let found = detector.detect(&self.step()).expect("the world is valid");
        let truth = self.truth();
        assert_eq!(listed(&found), truth, "{self:#?}");
        let others = self.second.as_ref().unwrap_or(&self.first);
        for (pair, &image) in found.pairs.iter().zip(&found.images) {
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
        truth.len()
    }
}

/// Returns 0, or a number so small that a coordinate moves by at most a few units in the last place.
fn near_nothing(rng: &mut Rng) -> f64 {
    [0.0, 1e-7, -1e-7, 1e-8][rng.usize(..4)]
}

/// Returns a random domain, and about the smallest distance between two opposite faces.
fn random_domain(rng: &mut Rng) -> (Domain, f64) {
    let scale = [1.0, 1.0, 1e-20, 3e8][rng.usize(..4)];
    let mut length = || scale * [1.0, 1.0, 0.7, 8.0][rng.usize(..4)];
    let mut edges = [[0.0_f32; 3]; 3];
    for (k, edge) in edges.iter_mut().enumerate() {
        edge[k] = length();
    }
    let size = f64::from(edges[0][0].min(edges[1][1]).min(edges[2][2]));
    match rng.u8(..4) {
        // A skewed cell, as LAMMPS has it.
        0 => {
            edges[1][0] = scale * (rng.f32() - 0.5);
            edges[2][0] = scale * (rng.f32() - 0.5);
            edges[2][1] = scale * (rng.f32() - 0.5);
        }
        // Edges in any directions.
        1 => {
            for x in edges.as_flattened_mut() {
                *x += scale * 0.6 * (rng.f32() - 0.5);
            }
        }
        // A cell so skewed that one edge is many times as long as the cell is wide.
        2 => {
            let times = rng.i32(1..40) as f32;
            for axis in 0..3 {
                edges[1][axis] += times * edges[0][axis];
                edges[2][axis] -= edges[1][axis];
            }
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

fn check_worlds(seed: u64, worlds: u64) {
    let (mut rng, mut detector) = (Rng::with_seed(seed), detector());
    let mut pairs = 0;
    for _ in 0..worlds {
        pairs += World::new(&mut rng).check(&mut detector);
    }
    println!("{worlds} worlds, {pairs} pairs");
    assert!(pairs as u64 > worlds);
}

#[test]
fn small_worlds_have_the_pairs_of_exact_arithmetic() {
    check_worlds(1, WORLDS);
}

/// The longer version. `CAROM_SEED` and `CAROM_WORLDS` choose the worlds.
#[test]
#[ignore = "takes minutes; run it with `--ignored --nocapture`"]
fn many_small_worlds() {
    let number = |name, default| {
        let text = std::env::var(name).unwrap_or_default();
        text.parse().unwrap_or(default)
    };
    check_worlds(number("CAROM_SEED", 2), number("CAROM_WORLDS", 1_000_000));
}
