//! Tests the GPU backend in periodic domains against exact arithmetic and against the CPU backend.

#![allow(
    clippy::cast_possible_truncation,
    reason = "random numbers are rounded to float32"
)]

mod backends;
mod device;
mod oracle;
mod periodic_worlds;

use backends::detector;
use carom::gpu::{BufferOptions, CollisionBuffers, Status};
use carom::{Backend, Collisions, Detector, Domain, Error, Options, Sphere, Step};
use carom_scenes::Scene;
use device::{Device, Interleaved, exact, ready};
use fastrand::Rng;
use glam::DVec3;
use periodic_worlds::{
    World, assert_each_pair_is_tested_once, dust_in_an_oblique_channel, gas, listed,
};

fn gpu() -> Detector {
    detector(Backend::Gpu, Options::new())
}

/// Returns the collisions of a step on the GPU, after comparing them with those on the CPU.
fn same_on_both(step: &Step<'_>) -> Collisions {
    let on_cpu = detector(Backend::Cpu, Options::new()).detect(step);
    let on_gpu = gpu().detect(step);
    let (on_cpu, on_gpu) = (on_cpu.expect("CPU"), on_gpu.expect("GPU"));
    assert_eq!(on_gpu.statistics.backend, Backend::Gpu);
    assert_eq!(on_gpu.pairs.images().len(), on_gpu.pairs.len());
    assert!(on_cpu.pairs == on_gpu.pairs && on_cpu.pairs.images() == on_gpu.pairs.images());
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
    // The GPU backend refuses a world if a sphere is 20 cells or more away from a strongly skewed periodic
    // cell. Only few of the random worlds may be refused.
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

fn cube_around(spheres: &[Sphere]) -> Domain {
    let numbers = spheres.iter().flat_map(|sphere| sphere.center);
    let half = numbers.fold(0.0, |most: f32, x| most.max(x.abs())) * 1.01;
    Domain::rectangular([-half; 3], [2.0 * half; 3])
}

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

/// Returns pairs of spheres on a lattice of sites in the periodic cell. The gap between the two
/// spheres of a pair is 0 up to about a rounding error. Many pairs meet on a face of the cell. Both
/// spheres of a pair are displaced from there by random numbers of cells, up to `farthest` along
/// each edge.
fn pairs_that_just_touch(rng: &mut Rng, domain: &Domain, farthest: i32) -> Vec<Sphere> {
    let edges = domain.edges().map(DVec3::from);
    let mut spheres = Vec::new();
    for site in 0..8 * 8 * 8 {
        let at = [site % 8, site / 8 % 8, site / 64].map(|k| f64::from(k) / 8.0);
        let point = edges[0] * at[0] + edges[1] * at[1] + edges[2] * at[2];
        let direction = DVec3::new(rng.f64() - 0.5, rng.f64() - 0.5, rng.f64() - 0.5).normalize();
        let mut image = || [0; 3].map(|_| rng.i32(-farthest..=farthest));
        let [first, second] =
            [image(), image()].map(|image| DVec3::from(domain.displacement(image)));
        let radius = rng.f32() + 0.5;
        let center = (point - direction * f64::from(radius) + first).as_vec3();
        let other = (point + direction * (0.5 + rng.f64()) + second).as_vec3();
        let apart = (other.as_dvec3() - second) - (center.as_dvec3() - first);
        let rest = (apart.length() - f64::from(radius)) as f32;
        let rest = [rest.next_down(), rest, rest.next_up()][rng.usize(..3)];
        spheres.push(Sphere::new(center, radius));
        spheres.push(Sphere::new(other, rest));
    }
    spheres
}

#[test]
fn pairs_that_just_touch_across_many_cells_have_the_same_list_on_both_backends() {
    let mut rng = Rng::with_seed(25);
    let skewed = [[97.3, 0.0, 0.0], [20.1, 95.7, 0.0], [-7.7, 13.9, 99.1]];
    for domain in [
        Domain::rectangular([0.0; 3], [97.3, 91.1, 99.7]),
        Domain::triclinic([0.0; 3], skewed),
    ] {
        for farthest in [1, 4, 60] {
            let spheres = pairs_that_just_touch(&mut rng, &domain, farthest);
            let found = same_on_both(&Step::new(&spheres, 1.0).in_domain(&domain));
            assert!(
                (100..500).contains(&found.pairs.len()),
                "{}",
                found.pairs.len()
            );
        }
    }
}

#[test]
fn dust_in_an_oblique_channel_is_tested_once_against_large_spheres() {
    let (spheres, domain) = dust_in_an_oblique_channel();
    let found = same_on_both(&Step::new(&spheres, 1.0).in_domain(&domain));
    assert_each_pair_is_tested_once(&found);
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
        assert_eq!(found.statistics.backend, Backend::Gpu);
        [found.pairs.len(), found.pairs.images().len()]
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

fn buffers(device: &Device, options: &BufferOptions) -> CollisionBuffers {
    let pipeline = device.pipeline();
    pipeline.create_buffers(options).expect("the buffers")
}

#[test]
fn recorded_steps_have_the_list_of_the_detector_in_every_domain() {
    let mut rng = Rng::with_seed(24);
    let (spheres, cube) = gas(&mut rng, 2000, 18);
    let edges = [[18.0, 0.0, 0.0], [7.0, 18.0, 0.0], [0.0, -5.0, 18.0]];
    let skewed = Domain::triclinic([-3.0; 3], edges);
    let device = Device::real();
    // The buffers are created with too small capacities, so they have to grow.
    let options = BufferOptions::new(500).with_segments(10).with_pairs(10);
    let mut buffers = buffers(&device, &options.with_periodic());
    let mut cpu = detector(Backend::Cpu, Options::new());
    let channel = cube.with_periodic([false, true, true]);
    for domain in [cube, Domain::open(), skewed, channel] {
        for set in [&spheres[..400], &spheres[..]] {
            let on_device = Interleaved::new(&device, set);
            let (first, second) = (
                on_device.spheres(),
                Interleaved::new(&device, &spheres[..9]),
            );
            let second = second.spheres();
            if set.len() > buffers.capacity().spheres as usize {
                let more = carom::gpu::Capacity::for_spheres(2100);
                assert!(buffers.grow(&more).expect("the buffers grow"));
            }
            let expect = |cpu: &mut Detector, step: &Step<'_>| {
                cpu.detect(&step.in_domain(&domain))
                    .expect("the step is valid")
            };
            let on_host = Step::new(set, 0.25);
            let one = expect(&mut cpu, &on_host);
            let steps = [
                exact(&device, &mut buffers, &on_host.in_domain(&domain)),
                exact(
                    &device,
                    &mut buffers,
                    &Step::on_device(first, 0.25).in_domain(&domain),
                ),
            ];
            for step in steps {
                assert_eq!(step.collisions.pairs, one.pairs);
                assert_eq!(step.collisions.pairs.images(), one.pairs.images());
            }
            let two = expect(&mut cpu, &Step::between(set, &spheres[..9], 0.25));
            let step = Step::between_on_device(first, second, 0.25).in_domain(&domain);
            let step = exact(&device, &mut buffers, &step);
            assert_eq!(step.collisions.pairs, two.pairs);
            assert_eq!(step.collisions.pairs.images(), two.pairs.images());
        }
    }
    device.assert_silent();
}

#[test]
fn a_raw_readback_has_the_image_of_each_pair() {
    let domain = Domain::rectangular([0.0; 3], [10.0; 3]);
    let spheres = [[0.5, 5.0, 5.0], [9.0, 5.0, 5.0]].map(|center| Sphere::new(center, 1.0));
    let device = Device::real();
    let mut buffers = buffers(&device, &BufferOptions::new(2).with_periodic());
    let mut encoder = device.encoder();
    let step = Step::new(&spheres, 1.0).in_domain(&domain);
    buffers
        .record(&mut encoder, &step)
        .expect("the step is valid");
    let ticket = buffers.read_raw(&mut encoder).expect("a readback");
    let raw = ready(device.finish(encoder, ticket));
    assert_eq!((raw.pairs()[0].a, raw.pairs()[0].b), (0, 1));
    assert_eq!(raw.pairs().images(), [[-1, 0, 0]]);
    assert!((raw.pairs()[0].depth - 0.5).abs() < 1e-5);
}

#[test]
fn misuse_of_periodic_domains_is_told() {
    let cube = Domain::rectangular([0.0; 3], [10.0; 3]);
    let spheres = [
        Sphere::new([3000.0, 0.0, 0.0], 1.0),
        Sphere::new([0.0; 3], 1.0),
    ];
    let device = Device::real();
    let mut open = buffers(&device, &BufferOptions::new(2));
    let step = Step::new(&spheres, 1.0).in_domain(&cube);
    let refused = open.record(&mut device.encoder(), &step);
    assert!(matches!(
        refused,
        Err(Error::NotAskedFor {
            option: "periodic",
            ..
        })
    ));
    assert!(matches!(
        open.pair_images(),
        Err(Error::NotAskedFor {
            option: "periodic",
            ..
        })
    ));

    let mut periodic = buffers(&device, &BufferOptions::new(2).with_periodic());
    let bad = Domain::rectangular([0.0; 3], [10.0, f32::NAN, 10.0]);
    let refused = periodic.record(&mut device.encoder(), &step.in_domain(&bad));
    assert!(matches!(refused, Err(Error::InvalidDomain { .. })));

    // If the spheres are in GPU buffers, the host does not know their values. So the host accepts a step with
    // a sphere too far from the periodic cell, and the status on the GPU reports this sphere.
    let on_device = Interleaved::new(&device, &spheres);
    let on_device = on_device.spheres();
    let step = Step::on_device(on_device, 1.0).in_domain(&cube);
    let mut encoder = device.encoder();
    periodic
        .record(&mut encoder, &step)
        .expect("the recording is valid");
    let summary = periodic.read_summary(&mut encoder).expect("a readback");
    let summary = ready(device.finish(encoder, summary));
    assert!(summary.status.contains(Status::IMAGE_OUT_OF_RANGE) && !summary.is_complete());
    assert_eq!(summary.out_of_range, Some(0));
    device.assert_silent();
}
