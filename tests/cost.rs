//! Tests that unusual arrangements of spheres cost little more than a uniform gas of as many
//! spheres. The cost is the number of pairs that get tested (candidates), and of spheres and time
//! segments in the grids (proxies). It is the same on every machine.

mod backends;

use backends::detector;
use carom::{Backend, Options, Sphere, Step};
use carom_scenes::Scene;
use fastrand::Rng;
use glam::Vec3;

const N: usize = 20_000;

/// Counts, divided by the number of spheres, of tested pairs (`candidates`), of spheres and time segments in
/// the grids (`proxies`), and of colliding pairs (`pairs`).
#[derive(Clone, Copy, Debug)]
struct Cost {
    candidates: f64,
    proxies: f64,
    pairs: f64,
}

fn cost(world: &str, spheres: &[Sphere]) -> Cost {
    let mut detector = detector(Backend::Cpu, Options::default());
    let found = detector
        .detect(&Step::new(spheres, 1.0))
        .unwrap_or_else(|error| panic!("{world}: {error}"));
    let each = |count: u64| count as f64 / spheres.len() as f64;
    let cost = Cost {
        candidates: each(found.statistics.candidates),
        proxies: each(found.statistics.proxies),
        pairs: each(found.statistics.pairs),
    };
    println!("{world}: {cost:.2?} per sphere");
    cost
}

fn gas() -> Vec<Sphere> {
    Scene::Gas.generate(N, 1)
}

fn half_side(spheres: &[Sphere]) -> f32 {
    spheres
        .iter()
        .map(|sphere| Vec3::from(sphere.center).abs().max_element())
        .fold(0.0, f32::max)
}

/// Panics if a world has more than `factor` times as many candidates (tested pairs) per colliding pair as a
/// uniform gas.
fn assert_by_pairs(world: &str, spheres: &[Sphere], factor: f64) {
    let [plain, this] = [("gas", &gas()[..]), (world, spheres)].map(|(name, w)| cost(name, w));
    let ratio = this.candidates / this.pairs / (plain.candidates / plain.pairs);
    assert!(
        ratio <= factor,
        "{world}: {ratio:.1} times as many candidates per pair as in the gas"
    );
}

/// Panics if a step of this world costs more than `factor` times as much as a step of a uniform gas. The cost
/// is the number of tested pairs, and also the number of spheres and time segments in the grids.
fn assert_like_gas(world: &str, spheres: &[Sphere], factor: f64) {
    let [plain, this] = [("gas", &gas()[..]), (world, spheres)].map(|(name, w)| cost(name, w));
    assert!(
        this.candidates <= factor * plain.candidates && this.proxies <= factor * plain.proxies,
        "{world}: {this:.2?} is more than {factor} times the gas, {plain:.2?}"
    );
}

#[test]
fn one_stray_at_1e9_costs_nothing() {
    let mut spheres = gas();
    spheres[N / 2] = Sphere::new([1e9, -1e9, 3e8], 0.5);
    assert_like_gas("a stray", &spheres, 1.5);
}

#[test]
fn one_giant_around_all_costs_only_its_own_pairs() {
    let mut spheres = gas();
    let half = half_side(&spheres);
    spheres[N / 2] = Sphere::new([0.0; 3], half * 1.8);
    assert_like_gas("a giant", &spheres, 1.5);
    spheres[N / 2] = Sphere::new([half, 0.0, 0.0], half * 100.0);
    assert_like_gas("a giant wall", &spheres, 1.5);
}

#[test]
fn a_common_velocity_costs_nothing() {
    let mut spheres = gas();
    for sphere in &mut spheres {
        sphere.velocity = (Vec3::from(sphere.velocity) + Vec3::new(1e5, -7e4, 3e4)).to_array();
    }
    assert_like_gas("a common velocity", &spheres, 1.5);
}

#[test]
fn an_offset_of_1e5_costs_nothing() {
    let mut spheres = gas();
    for sphere in &mut spheres {
        sphere.center = (Vec3::from(sphere.center) + Vec3::new(1e5, -1e5, 1e5)).to_array();
    }
    assert_like_gas("an offset", &spheres, 1.5);
}

#[test]
fn bullets_in_formation_cost_nothing() {
    let mut spheres = gas();
    for sphere in &mut spheres {
        sphere.velocity = [2000.0, 1000.0, -2000.0];
    }
    assert_like_gas("a formation", &spheres, 1.5);
}

/// Two formations of spheres fly through each other. Each sphere comes near many others, so a
/// colliding pair costs about ten times as many tests as in a uniform gas.
#[test]
fn two_crossing_formations_cost_at_most_twelve_times_a_gas_per_pair() {
    let mut spheres = gas();
    for (i, sphere) in spheres.iter_mut().enumerate() {
        sphere.velocity = [if i % 2 == 0 { 30.0 } else { -30.0 }, 0.0, 0.0];
    }
    assert_by_pairs("two formations", &spheres, 12.0);
}

#[test]
fn a_few_bullets_cost_at_most_twice_as_much_as_a_gas() {
    assert_like_gas("fast", &Scene::Fast.generate(N, 1), 2.0);
}

/// carom chooses the length of time segments (parts of long paths) from a random sample of the spheres.
/// Tests that the number of segments hardly depends on this sample.
#[test]
fn the_segments_of_a_few_bullets_do_not_depend_on_the_sample() {
    let proxies = (1..=20).map(|seed| {
        let world = format!("fast, seed {seed}");
        cost(&world, &Scene::Fast.generate(N, seed)).proxies
    });
    let (least, most) = proxies.fold((f64::MAX, 0.0_f64), |(least, most), proxies| {
        (least.min(proxies), most.max(proxies))
    });
    assert!(
        most <= 1.1 * least,
        "{least} to {most} proxies per sphere, expected a ratio of at most 1.1"
    );
}

#[test]
fn clusters_cost_at_most_twice_as_much_as_a_gas_per_pair() {
    assert_by_pairs("clustered", &Scene::Clustered.generate(N, 1), 2.0);
}

/// Returns ten small clouds of spheres in a cube of the given side.
fn clumps(side: f32) -> Vec<Sphere> {
    let rng = &mut Rng::with_seed(1);
    let mut clumps = Vec::new();
    for seed in 0..10 {
        let place = Vec3::new(rng.f32(), rng.f32(), rng.f32()) * side;
        let mut clump = Scene::Gas.generate(N / 10, seed);
        for sphere in &mut clump {
            sphere.center = (Vec3::from(sphere.center) + place).to_array();
        }
        clumps.extend(clump);
    }
    clumps
}

#[test]
fn clumps_far_apart_cost_at_most_five_times_as_much_as_one_gas() {
    for power in [10, 14, 18] {
        let world = format!("clumps in a cube of 2^{power}");
        assert_like_gas(&world, &clumps(2_f32.powi(power)), 2.0);
    }
    // In a cube with a side of 2²⁰, float32 coordinates are so imprecise that carom makes its grid
    // cells twice as wide as a sphere.
    assert_like_gas("clumps in a cube of 2^20", &clumps(2_f32.powi(20)), 5.0);
}

/// Tests a few fast spheres in ten clumps that are far apart. The grid fills the large cube around the
/// clumps. So it must have wide cells, or distant cells must share a table entry. In both cases, the step
/// costs more than a step of a uniform gas, and the test limits this cost.
#[test]
fn a_few_bullets_in_clumps_cost_at_most_thirty_times_as_much_as_a_gas() {
    for power in [10, 14, 18] {
        let mut spheres = clumps(2_f32.powi(power));
        for sphere in spheres.iter_mut().step_by(64) {
            sphere.velocity = sphere.velocity.map(|v| v * 60.0);
        }
        let world = format!("clumps in a cube of 2^{power}, with bullets");
        assert_like_gas(&world, &spheres, 30.0);
    }
}

#[test]
fn radii_of_up_to_10000_to_1_cost_at_most_four_times_as_much_as_equal_ones() {
    let equal = cost("equal", &carom_scenes::polydisperse_of(N, 0.4999..0.5, 1));
    for (world, smallest) in [
        ("100 : 1", 0.05),
        ("1000 : 1", 0.005),
        ("10000 : 1", 0.0005),
    ] {
        let mixed = cost(world, &carom_scenes::polydisperse_of(N, smallest..5.0, 1));
        assert!(mixed.candidates <= 4.0 * equal.candidates, "{world}");
        assert!(mixed.proxies <= 4.0 * equal.proxies, "{world}");
    }
}

#[test]
fn light_grains_that_fly_far_cost_no_more_than_eight_times_those_at_rest() {
    let thermal = Scene::Thermal.generate(N, 1);
    let at_rest = cost("thermal at rest", &carom_scenes::at_rest(thermal.clone()));
    let moving = cost("thermal", &thermal);
    assert!(moving.candidates <= 8.0 * at_rest.candidates);
    assert!(moving.proxies <= 2.0 * at_rest.proxies);
}

#[test]
fn everything_on_a_line_costs_little() {
    let rng = &mut Rng::with_seed(1);
    for (world, axis) in [
        ("a line", Vec3::X),
        ("a line along z", Vec3::Z),
        ("an oblique line", Vec3::new(1.0, 1.0, 1.0)),
        ("an odd line", Vec3::new(0.9, -0.3, 0.1)),
    ] {
        let mut sphere = |_| {
            let place = axis * ((rng.f32() - 0.5) * 2.0 * N as f32);
            Sphere::new(place, 0.5).with_velocity(axis * (rng.f32() - 0.5))
        };
        let spheres: Vec<_> = (0..N).map(&mut sphere).collect();
        assert_like_gas(world, &spheres, 2.0);
    }
}

/// Returns `N` spheres in the plane that two given vectors span, about one sphere for each ten units of area.
fn plane(along: [Vec3; 2]) -> Vec<Sphere> {
    let rng = &mut Rng::with_seed(1);
    let side = (N as f32 * 10.0).sqrt();
    let mut sphere = |_| {
        let place = along[0] * (rng.f32() * side) + along[1] * (rng.f32() * side);
        let velocity = along[0] * (rng.f32() - 0.5) + along[1] * (rng.f32() - 0.5);
        Sphere::new(place, 0.5).with_velocity(velocity)
    };
    (0..N).map(&mut sphere).collect()
}

#[test]
fn everything_in_a_plane_costs_little() {
    assert_like_gas("a plane", &plane([Vec3::X, Vec3::Y]), 2.0);
}

/// Tests spheres in an oblique plane, which fill only a small part of their bounding box. carom
/// limits the number of grid cells in this box, so the cells are wider than is best for these
/// spheres.
#[test]
fn everything_in_an_oblique_plane_costs_no_more_than_eight_times_as_much() {
    let along = [Vec3::new(0.7, 0.7, 0.0), Vec3::new(0.3, -0.3, 0.9)];
    assert_like_gas("an oblique plane", &plane(along), 8.0);
}

/// Two swarms of spheres fly through each other. carom must not cut their paths into time segments,
/// because it would test the neighbours within a swarm again in every segment. A test of all pairs
/// would take N / 2 tests for each sphere.
#[test]
fn swarms_through_one_another_cost_no_more_than_trying_all_pairs() {
    for speed in [100.0, 1000.0] {
        let mut spheres = gas();
        for (i, sphere) in spheres.iter_mut().enumerate() {
            sphere.velocity[0] = if i % 2 == 0 { speed } else { -speed };
        }
        let swarms = cost("swarms", &spheres);
        assert!(swarms.candidates <= 0.5 * N as f64);
    }
}

/// carom cuts long paths into time segments, and chooses their length from the distances between
/// neighbours. Many spheres at one point, at distance 0, must not make the segments too short.
#[test]
fn spheres_at_one_point_do_not_make_segments_too_short() {
    let point = Sphere::new([0.0; 3], 0.0);
    let bullet = point.with_velocity([1.0, 0.0, 0.0]);
    let spheres: Vec<_> = (0..2001)
        .map(|i| if i < 1001 { point } else { bullet })
        .collect();
    let all_pairs = cost("points and bullets in one place", &spheres);
    assert!(all_pairs.candidates <= 1000.0 && all_pairs.proxies <= 2.0);
    let far = Sphere::new([-500.0, 0.0, 0.0], 1e-6).with_velocity([1000.0, 0.0, 0.0]);
    let two = cost(
        "a bullet and its target",
        &[Sphere::new([0.0; 3], 1e-6), far],
    );
    assert!(two.candidates <= 1.0 && two.proxies <= 16.0);
}

#[test]
fn bullets_among_others_cost_hardly_more_between_two_sets_than_in_one() {
    let rng = &mut Rng::with_seed(1);
    let mut vector = |scale: f32| [0; 3].map(|_| (2.0 * rng.f32() - 1.0) * scale);
    let spheres: Vec<Sphere> = (0..2000)
        .map(|i| match i % 100 {
            0 => Sphere::new(vector(12.6), 0.1).with_velocity(vector(100.0)),
            _ => Sphere::new(vector(12.6), 0.3),
        })
        .collect();
    let together = cost("bullets among others", &spheres);
    let (one, other) = spheres.split_at(1000);
    let between = detector(Backend::Cpu, Options::default())
        .detect(&Step::between(one, other, 1.0))
        .unwrap_or_else(|error| panic!("{error}"));
    let candidates = between.statistics.candidates as f64 / spheres.len() as f64;
    println!("between: {candidates:.2}");
    assert!(candidates <= 1.5 * together.candidates);
}
