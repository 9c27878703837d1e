//! No pair is lost, doubled or invented where grids are prone to it: between neighbouring cells of
//! wide worlds, and at the times at which a motion is cut. Each world has too many spheres for
//! brute force, but is made of pairs that are known to the test, and each of which the oracle
//! decides.
//!
//! The full numbers, of which continuous integration runs a part:
//! `cargo test --release --test nothing_lost -- --ignored --nocapture`

#[path = "../backends/mod.rs"]
mod backends;
mod boundaries;
mod neighbors;
#[path = "../oracle/mod.rs"]
mod oracle;

use carom::{Collision, Detector, Sphere, Statistics, Step};
use rayon::prelude::*;

/// A world of pairs: sphere i and sphere i + n of 2n are one, meant to touch or nearly.
struct Pairs {
    spheres: Vec<Sphere>,
    dt: f32,
}

impl Pairs {
    /// First all the one, then all the other spheres of each pair, so that partners are far apart
    /// in memory.
    fn new(pairs: impl ExactSizeIterator<Item = [Sphere; 2]>, dt: f32) -> Self {
        let (mut spheres, others): (Vec<_>, Vec<_>) = pairs.map(|[a, b]| (a, b)).unzip();
        spheres.extend(others);
        Self { spheres, dt }
    }

    /// What a backend finds, each pair checked, and how many of the known pairs collide.
    fn check(&self, world: &str, detector: &mut Detector) -> (u64, Statistics) {
        let found = detector
            .detect(&Step::new(&self.spheres, self.dt))
            .unwrap_or_else(|error| panic!("{world}: {error}"));
        let list = &found.pairs;
        let key = |pair: &Collision| (pair.a, pair.b);
        if let Some(pair) = list.windows(2).find(|pair| key(&pair[0]) >= key(&pair[1])) {
            panic!("{world}: not strictly increasing: {pair:?}");
        }
        let collides = |a: u32, b: u32| {
            let [a, b] = [a, b].map(|index| &self.spheres[index as usize]);
            oracle::collides(a, b, self.dt)
        };
        let invented: Vec<_> = list
            .par_iter()
            .map(key)
            .filter(|&(a, b)| !collides(a, b))
            .collect();
        self.none(world, "pairs do not collide", &invented);

        let half = u32::try_from(self.spheres.len() / 2).expect("indices are 32 bits");
        let colliding: Vec<_> = (0..half)
            .into_par_iter()
            .map(|i| (i, i + half))
            .filter(|&(a, b)| collides(a, b))
            .collect();
        let lost: Vec<_> = colliding
            .par_iter()
            .filter(|&&pair| list.binary_search_by_key(&pair, key).is_err())
            .copied()
            .collect();
        self.none(world, "pairs are lost", &lost);
        println!(
            "{world}, {:?}: {} of {half} pairs collide, none lost; {} listed, {:.1} candidates and \
             {:.2} proxies a sphere, {} levels, {} grazing, {} of them decided by integers",
            found.statistics.backend,
            colliding.len(),
            list.len(),
            found.statistics.candidates as f64 / self.spheres.len() as f64,
            found.statistics.proxies as f64 / self.spheres.len() as f64,
            found.statistics.levels,
            found.statistics.grazing,
            found.statistics.grazing_by_integers,
        );
        (colliding.len() as u64, found.statistics)
    }

    /// Panics when there are any of these pairs, and shows some.
    fn none(&self, world: &str, what: &str, pairs: &[(u32, u32)]) {
        let shown: Vec<String> = pairs
            .iter()
            .take(5)
            .map(|&(a, b)| {
                let [one, other] = [a, b].map(|index| self.spheres[index as usize]);
                let easy = oracle::filter::collides(&one, &other, self.dt).is_some();
                format!("({a}, {b}), float64 can tell: {easy}\n  {one:?}\n  {other:?}")
            })
            .collect();
        assert!(
            pairs.is_empty(),
            "{world}: {} {what}, dt = {:?}\n{}",
            pairs.len(),
            self.dt,
            shown.join("\n")
        );
    }
}
