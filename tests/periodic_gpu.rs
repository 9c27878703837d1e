//! Tests the GPU backend in periodic domains against exact arithmetic and against the CPU backend.

mod backends;
mod oracle;
mod periodic_worlds;

use backends::detector;
use carom::{ActiveBackend, Backend, Collisions, Detector, Domain, Error, Options, Sphere, Step};
use carom_scenes::Scene;
use fastrand::Rng;
use periodic_worlds::{World, gas, listed};

fn gpu() -> Detector {
    detector(Backend::Gpu, Options::new())
}

/// Returns the collisions of a step on the GPU, after comparing them with those on the CPU.
fn same_on_both(step: &Step<'_>) -> Collisions {
    let on_cpu = detector(Backend::Cpu, Options::new()).detect(step);
    let on_gpu = gpu().detect(step);
    let (on_cpu, on_gpu) = (on_cpu.expect("CPU"), on_gpu.expect("GPU"));
    assert_eq!(on_gpu.statistics.backend, ActiveBackend::Gpu);
    assert_eq!(on_gpu.images.len(), on_gpu.pairs.len());
    assert!(on_cpu.pairs == on_gpu.pairs && on_cpu.images == on_gpu.images);
    on_gpu
}

fn check_worlds(seed: u64, worlds: u64) {
    let (mut rng, mut detector) = (Rng::with_seed(seed), gpu());
    let (mut pairs, mut refused) = (0, 0);
    for _ in 0..worlds {
        match World::new(&mut rng, 20).check(&mut detector) {
            Some(found) => pairs += found,
            None => refused += 1,
        }
    }
    println!("{worlds} worlds, {pairs} pairs, {refused} worlds refused");
    assert!(pairs as u64 > worlds);
    // In the most skewed cells, 20 cells are too far for a GPU.
    assert!(refused < worlds / 6, "{refused}");
}

#[test]
fn small_worlds_have_the_pairs_of_exact_arithmetic() {
    check_worlds(11, 300);
}

/// Runs the test of small worlds for longer. The environment variables `CAROM_SEED` and `CAROM_WORLDS` choose
/// the worlds.
#[test]
#[ignore = "takes minutes; run it with `--ignored --nocapture`"]
fn many_small_worlds() {
    let number = |name, default| {
        let text = std::env::var(name).unwrap_or_default();
        text.parse().unwrap_or(default)
    };
    check_worlds(number("CAROM_SEED", 12), number("CAROM_WORLDS", 10_000));
}

/// Returns a cube around the centres of the spheres.
fn cube_around(spheres: &[Sphere]) -> Domain {
    let numbers = spheres.iter().flat_map(|sphere| sphere.center);
    let half = numbers.fold(0.0, |most: f32, x| most.max(x.abs())) * 1.01;
    Domain::rectangular([-half; 3], [2.0 * half; 3])
}

/// Tests the benchmark scenes, whose spheres have all sizes and speeds, in a cube and in a channel.
#[test]
fn benchmark_scenes_have_the_same_pairs_on_both_backends() {
    for scene in Scene::ALL {
        let spheres = scene.generate(3000, 21);
        let cube = cube_around(&spheres);
        let channel = cube.with_periodic([true, false, true]);
        for domain in [cube, channel] {
            let found = same_on_both(&Step::new(&spheres, 1.0).in_domain(&domain));
            assert!(!found.pairs.is_empty(), "{}", scene.name());
        }
        let (first, second) = spheres.split_at(1000);
        same_on_both(&Step::between(first, second, 1.0).in_domain(&cube));
    }
}

/// Tests spheres that fly as a whole through many cells, in coordinates that were never wrapped.
#[test]
fn a_drifting_gas_outside_the_cell_has_the_same_pairs_on_both_backends() {
    let mut rng = Rng::with_seed(22);
    let (mut spheres, domain) = gas(&mut rng, 4000, 24);
    for sphere in &mut spheres {
        for (x, v) in sphere.center.iter_mut().zip(&mut sphere.velocity) {
            *x += 24.0 * rng.i32(-9..=9) as f32;
            *v += 200.0;
        }
    }
    let found = same_on_both(&Step::new(&spheres, 0.25).in_domain(&domain));
    assert!(found.pairs.len() > 1000);
}

#[test]
fn a_sphere_touches_its_own_images_in_a_small_cell() {
    let domain = Domain::rectangular([0.0; 3], [1.0, 4.0, 4.0]);
    let step = |sphere| Step::new(sphere, 1.0).in_domain(&domain);
    let sphere = [Sphere::new([7.5, 0.0, 0.0], 1.0)];
    let found = same_on_both(&step(&sphere));
    assert_eq!(listed(&found), [(0, 0, [1, 0, 0]), (0, 0, [2, 0, 0])]);
    let giant = [Sphere::new([0.5; 3], 12.0)];
    assert!(same_on_both(&step(&giant)).pairs.len() > 1000);
}

#[test]
fn a_step_in_open_space_after_a_periodic_one_has_no_images() {
    let mut rng = Rng::with_seed(23);
    let (spheres, domain) = gas(&mut rng, 500, 12);
    let mut detector = gpu();
    let mut count = |domain: &Domain| {
        let found = detector.detect(&Step::new(&spheres, 0.25).in_domain(domain));
        let found = found.expect("the step is valid");
        assert_eq!(found.statistics.backend, ActiveBackend::Gpu);
        [found.pairs.len(), found.images.len()]
    };
    let [pairs, images] = count(&domain);
    let [fewer, none] = count(&Domain::open());
    assert!(pairs == images && fewer < pairs && none == 0);
    assert_eq!(count(&domain), [pairs, images]);
}

#[test]
fn a_domain_that_a_gpu_cannot_take_is_an_error() {
    let spheres = [
        Sphere::new([0.0; 3], 1.0),
        Sphere::new([3000.0, 0.0, 0.0], 1.0),
    ];
    let error = |domain: &Domain| {
        let found = gpu().detect(&Step::new(&spheres, 1.0).in_domain(domain));
        found.expect_err("the step is out of range")
    };
    let cube = Domain::rectangular([0.0; 3], [10.0; 3]);
    assert!(matches!(
        error(&cube),
        Error::ImageOutOfRange {
            index: 1,
            limit: 255,
            ..
        }
    ));
    let skewed = Domain::triclinic(
        [0.0; 3],
        [[1.0, 0.0, 0.0], [1000.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    );
    assert!(error(&skewed).to_string().contains("skewed"));
}
