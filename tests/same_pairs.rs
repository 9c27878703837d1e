//! Both backends find exactly the pairs that brute force finds, in benchmark scenes and in hard
//! worlds, and give the very same list.

#[path = "../examples/scenes/mod.rs"]
mod scenes;

mod backends;
mod oracle;
mod worlds;

use backends::both;
use carom::{Collisions, Sphere};

/// Runs a world on both backends, and compares each with the truth and with the other.
fn assert_right(world: &str, spheres: &[Sphere], dt: f32) -> Collisions {
    let truth = oracle::brute_force(spheres, dt);
    let [cpu, gpu] = both(|detector| {
        let found = detector
            .detect(spheres, dt)
            .unwrap_or_else(|error| panic!("{world}: {error}"));
        let statistics = &found.statistics;
        println!(
            "{world}: {:?} {} pairs, {:.1} candidates and {:.2} proxies a sphere, {} levels, {} grazing",
            statistics.backend,
            statistics.pairs,
            statistics.candidates as f64 / spheres.len() as f64,
            statistics.proxies as f64 / spheres.len() as f64,
            statistics.levels,
            statistics.grazing,
        );
        truth.assert_same(world, spheres, dt, &found);
        assert_eq!(statistics.pairs, found.pairs.len() as u64, "{world}");
        found
    });
    assert_eq!(
        cpu.pairs, gpu.pairs,
        "{world}: the lists differ, by times or depths"
    );
    cpu
}

#[test]
fn benchmark_scenes() {
    for scene in scenes::Scene::ALL {
        assert_right(scene.name(), &scene.generate(10_000, 1), 1.0);
    }
}

#[test]
fn hard_worlds() {
    for (world, spheres, dt) in worlds::all(10_000, 1) {
        assert_right(world, &spheres, dt);
    }
}

#[test]
fn one_point_of_nine_million_pairs() {
    let (world, spheres, dt) = worlds::one_point(4300, 1);
    assert_eq!(
        assert_right(world, &spheres, dt).pairs.len(),
        4300 * 4299 / 2
    );
}
