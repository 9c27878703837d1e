//! Tests that no colliding pair is lost, listed twice or invented. In some worlds, pairs lie
//! between neighbouring grid cells far from the origin, and in others at the boundaries of time
//! segments.
//!
//! The worlds have too many spheres for brute force. So the tests construct pairs of spheres that touch or
//! nearly touch, and exact arithmetic decides which of these pairs collide.
//!
//! The ignored tests use many more pairs. Run them with `cargo test --release --test nothing_lost --
//! --ignored --nocapture`.

#[path = "../backends/mod.rs"]
mod backends;
mod boundaries;
mod neighbors;
#[path = "../oracle/mod.rs"]
mod oracle;

use carom::{Collision, Detector, Sphere, Statistics, Step};
use rayon::prelude::*;

/// A test world of 2n spheres. Spheres i and i + n are constructed to touch or nearly touch.
struct Pairs {
    spheres: Vec<Sphere>,
    dt: f32,
}

impl Pairs {
    /// Makes a test world of pairs of spheres. It lists the first sphere of every pair, and then
    /// the second sphere of every pair. So the two spheres of a pair are far apart in memory.
    fn new(pairs: impl ExactSizeIterator<Item = [Sphere; 2]>, dt: f32) -> Self {
        let (mut spheres, others): (Vec<_>, Vec<_>) = pairs.map(|[a, b]| (a, b)).unzip();
        spheres.extend(others);
        Self { spheres, dt }
    }

    /// A test world consists of pairs of spheres that the test has constructed. `check` lists the
    /// collisions between all spheres of the world. It checks that each listed pair collides, and
    /// that each constructed pair that collides is listed. It returns the number of constructed
    /// pairs that collide, and the statistics of the step.
    fn check(&self, world: &str, detector: &mut Detector) -> (u64, Statistics) {
        let found = detector
            .detect(&Step::new(&self.spheres, self.dt))
            .unwrap_or_else(|error| panic!("{world}: {error}"));
        let list = &found.pairs;
        let key = |pair: &Collision| (pair.a, pair.b);
        if let Some(pair) = list.windows(2).find(|pair| key(&pair[0]) >= key(&pair[1])) {
            panic!("{world}: the list is not strictly increasing at {pair:?}");
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
        self.none(world, "listed pairs do not collide", &invented);

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
        self.none(world, "colliding pairs are not listed", &lost);
        println!(
            "{world}, {:?}: {} of {half} pairs collide, none lost; {} listed, {:.1} candidates and \
             {:.2} proxies per sphere, {} levels, {} grazing, {} of them decided by integers",
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

    /// Panics unless `pairs`, a list of wrong pairs, is empty. The message has up to five of the pairs,
    /// and says with the text `what` why they are wrong.
    fn none(&self, world: &str, what: &str, pairs: &[(u32, u32)]) {
        let shown: Vec<String> = pairs
            .iter()
            .take(5)
            .map(|&(a, b)| {
                let [one, other] = [a, b].map(|index| self.spheres[index as usize]);
                let easy = oracle::filter::collides(&one, &other, self.dt).is_some();
                format!("({a}, {b}), decided by float64: {easy}\n  {one:?}\n  {other:?}")
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
