//! Tests that a step between two sets of spheres finds only pairs with one sphere from each set, and that
//! pairs within a set cost nothing.

mod backends;
mod oracle;

use backends::both;
use carom::{Sphere, Step};

/// Returns rays (spheres of radius 0) that start at one point, and a cloud of spheres at rest around this
/// point.
fn rays_and_targets(count: usize) -> [Vec<Sphere>; 2] {
    let mut rng = fastrand::Rng::with_seed(5);
    let mut vector = |scale: f32| [0; 3].map(|_| (rng.f32() - 0.5) * scale);
    let rays = (0..count)
        .map(|_| Sphere::new([0.0; 3], 0.0).with_velocity(vector(200.0)))
        .collect();
    let targets = (0..count).map(|_| Sphere::new(vector(60.0), 0.5)).collect();
    [rays, targets]
}

#[test]
fn rays_and_targets_match_brute_force() {
    let [rays, targets] = rays_and_targets(3000);
    let lists = both(|detector| {
        [(&rays, &targets), (&targets, &rays)].map(|(first, second)| {
            let found = detector
                .detect(&Step::between(first, second, 1.0))
                .unwrap_or_else(|error| panic!("{error}"));
            oracle::assert_same_between("rays and targets", first, second, 1.0, &found);
            assert!(found.pairs.len() > 1000);
            found.pairs
        })
    });
    assert_eq!(lists[0], lists[1]);
}

#[test]
fn sets_of_all_sizes_and_speeds_match_brute_force() {
    let mut rng = fastrand::Rng::with_seed(6);
    let mut set = |count: usize, scale: f32| -> Vec<Sphere> {
        (0..count)
            .map(|_| {
                let mut vector = |scale: f32| [0; 3].map(|_| (rng.f32() - 0.5) * scale);
                let (center, velocity) = (vector(50.0), vector(scale * 20.0));
                let groups = [0, 1, 2, 3].map(|bit| u16::from(rng.u8(..8) == 0) << bit);
                Sphere::new(center, scale * rng.f32().powi(4))
                    .with_velocity(velocity)
                    .with_groups(groups[0] | groups[1], groups[2] | groups[3] | groups[0])
            })
            .collect()
    };
    let sets = [set(2000, 0.1), set(300, 3.0), set(1, 50.0), set(1000, 1.0)];
    both(|detector| {
        for first in &sets {
            for second in &sets {
                let found = detector
                    .detect(&Step::between(first, second, 1.0))
                    .unwrap_or_else(|error| panic!("{error}"));
                oracle::assert_same_between("two sets", first, second, 1.0, &found);
            }
        }
    });
}

/// A ray is a moving sphere of radius 0. All rays are in one set and start at the same point, so
/// any two of them touch. A step of two sets must spend no time on such pairs within a set.
#[test]
fn a_crowd_within_a_set_costs_nothing() {
    let [rays, targets] = rays_and_targets(10_000);
    both(|detector| {
        let found = detector
            .detect(&Step::between(&rays, &targets, 1.0))
            .unwrap_or_else(|error| panic!("{error}"));
        let candidates = found.statistics.candidates;
        assert!(candidates < 10_000 * 1000, "{candidates} candidates");
    });
}
