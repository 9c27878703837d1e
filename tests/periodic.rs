//! Tests carom in periodic domains against exact arithmetic on every image (periodic copy) of each sphere.

#![allow(
    clippy::cast_possible_truncation,
    reason = "random numbers are rounded to float32"
)]

mod oracle;
mod periodic_worlds;

use carom::{
    Backend, Collision, Collisions, Detector, Domain, Error, Hits, Options, Partner, Sphere, Step,
    verify,
};
use fastrand::Rng;
use oracle::periodic::{Pair, brute_force};
use periodic_worlds::{
    World, assert_each_pair_is_tested_once, dust_in_an_oblique_channel, gas, listed,
};
use rayon::ThreadPoolBuilder;

const WORLDS: u64 = 20_000;

fn detector() -> Detector {
    Detector::new(Options::new().with_backend(Backend::Cpu)).expect("the CPU is always there")
}

fn check_worlds(seed: u64, worlds: u64) {
    let (mut rng, mut detector) = (Rng::with_seed(seed), detector());
    let mut pairs = 0;
    for _ in 0..worlds {
        let world = World::new(&mut rng, 1000);
        pairs += world
            .check(&mut detector)
            .expect("all spheres are in range");
    }
    println!("{worlds} worlds, {pairs} pairs");
    assert!(pairs as u64 > worlds);
}

#[test]
fn small_worlds_have_the_pairs_of_exact_arithmetic() {
    check_worlds(1, WORLDS);
}

/// Runs the test of small periodic worlds for longer. The environment variables `CAROM_SEED` and
/// `CAROM_WORLDS` choose the worlds.
#[test]
#[ignore = "takes minutes; run it with `--ignored --nocapture`"]
fn many_small_worlds() {
    let number = |name, default| {
        let text = std::env::var(name).unwrap_or_default();
        text.parse().unwrap_or(default)
    };
    check_worlds(number("CAROM_SEED", 2), number("CAROM_WORLDS", 1_000_000));
}

fn detect(step: &Step<'_>) -> Collisions {
    detector().detect(step).expect("the step is valid")
}

#[test]
fn a_cell_has_the_pairs_of_its_copies_in_open_space() {
    let mut rng = Rng::with_seed(3);
    let (spheres, domain) = gas(&mut rng, 400, 12);
    let step = Step::new(&spheres, 0.25).in_domain(&domain);
    // The fastest sphere moves less than an edge of the periodic cell during the step, so one layer of copies
    // around the cell suffices.
    let images: Vec<[i32; 3]> = (0..27)
        .map(|k| [k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1])
        .collect();
    let mut copies = Vec::new();
    for image in &images {
        copies.extend(spheres.iter().map(|sphere| {
            let mut copy = *sphere;
            for (x, n) in copy.center.iter_mut().zip(image) {
                *x += 12.0 * *n as f32;
            }
            copy
        }));
    }
    let between = oracle::brute_force_between(&spheres, &copies, 0.25);
    let mut expected: Vec<Pair> = between
        .hits
        .iter()
        .map(|&(a, copy)| (a, copy % 400, images[copy as usize / 400]))
        .filter(|&(a, b, image)| a < b || (a == b && image > [0; 3]))
        .collect();
    expected.sort_unstable();
    assert!(expected.iter().any(|&(.., image)| image != [0; 3]));
    assert_eq!(listed(&detect(&step)), expected);
}

#[test]
fn verify_finds_no_mistake_in_a_large_list_and_every_mistake_in_a_wrong_one() {
    let mut rng = Rng::with_seed(4);
    let (mut spheres, domain) = gas(&mut rng, 3000, 24);
    // Spheres may lie outside the periodic cell, as after a long simulation.
    for sphere in &mut spheres {
        for x in &mut sphere.center {
            *x += 24.0 * rng.i32(-5..=5) as f32;
        }
    }
    let step = Step::new(&spheres, 0.5).in_domain(&domain);
    let found = detect(&step);
    let truth = verify(&step, &found.pairs).expect("the step is valid");
    assert!(truth.passed(), "{truth}");
    assert_eq!(truth.touching, found.pairs.len() as u64);
    assert!(found.pairs.images().iter().any(|image| *image != [0; 3]));

    let (mut pairs, mut images) = found.pairs.clone().into_parts();
    let (missing, missing_image) = (pairs.remove(5), images.remove(5));
    images[7][1] += 1;
    let invented_image = images[7];
    let wrong = Hits::with_images(pairs, images).expect("one image for each pair");
    let truth = verify(&step, &wrong).expect("the step is valid");
    assert_eq!(truth.missing.len(), 2);
    assert!(truth.missing.contains(&missing));
    assert!(truth.missing.images().contains(&missing_image));
    assert_eq!(truth.invented.images(), [invented_image]);
    // An entry still means the same pair if its two spheres are exchanged and the displacement of the
    // periodic copy is negated. So `verify` must accept such an entry.
    let (mut pairs, mut images) = found.pairs.clone().into_parts();
    (pairs[3].a, pairs[3].b) = (pairs[3].b, pairs[3].a);
    images[3] = images[3].map(|n| -n);
    let other_way = Hits::with_images(pairs, images).expect("one image for each pair");
    let truth = verify(&step, &other_way).expect("the step is valid");
    assert!(truth.passed(), "{truth}");
}

#[test]
fn neither_threads_nor_the_order_of_memory_changes_the_list() {
    let mut rng = Rng::with_seed(5);
    let (spheres, domain) = gas(&mut rng, 60_000, 50);
    let step = Step::new(&spheres, 0.25).in_domain(&domain);
    let list = |threads| {
        let mut detector = detector();
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.expect("there are threads");
        let mut detect = || pool.install(|| detector.detect(&step));
        let found = detect().expect("the step is valid");
        let again = detect().expect("the step is valid");
        assert_eq!(found.pairs, again.pairs);
        found.pairs
    };
    let one = list(1);
    assert!(one.len() > 1000);
    assert_eq!(one, list(2));
    assert_eq!(one, list(5));
}

#[test]
fn impacts_contacts_and_changes_know_the_image() {
    let domain = Domain::rectangular([0.0; 3], [10.0; 3]);
    let spheres = [
        Sphere::new([8.0, 5.0, 5.0], 1.0).with_velocity([4.0, 0.0, 0.0]),
        Sphere::new([2.0, 5.0, 5.0], 1.0),
        Sphere::new([5.0, 0.5, 5.0], 1.0),
        Sphere::new([5.0, 9.0, 5.0], 1.0),
    ];
    let found = detect(&Step::new(&spheres, 1.0).in_domain(&domain));
    assert_eq!(listed(&found), [(0, 1, [1, 0, 0]), (2, 3, [0, -1, 0])]);
    assert_eq!((found.pairs[0].toi, found.pairs[1].depth), (0.5, 0.5));

    let earliest = found.earliest().expect("it fits in memory");
    let partners = earliest
        .iter()
        .map(|first| first.map(|first| (first.partner, first.image)));
    let expected = [
        (1, [1, 0, 0]),
        (0, [-1, 0, 0]),
        (3, [0, -1, 0]),
        (2, [0, 1, 0]),
    ];
    let expected = expected.map(|(sphere, image)| Some((Partner::Sphere(sphere), image)));
    assert_eq!(partners.collect::<Vec<_>>(), expected);

    let contact = found.pairs[0].contact_of_image(&spheres[0], &spheres[1], &domain, [1, 0, 0]);
    assert_eq!(contact.point, [11.0, 5.0, 5.0]);
    assert_eq!(contact.normal, [1.0, 0.0, 0.0]);
    assert_eq!(contact.approach_speed, 4.0);
    assert_eq!(found.contacts().expect("it fits in memory").of(1), [0]);

    let mut later = spheres;
    later[1].center[0] += 10.0;
    let now = detect(&Step::new(&later, 1.0).in_domain(&domain));
    assert_eq!(listed(&now)[0], (0, 1, [0, 0, 0]));
    let changes = now.changes_since(&found).expect("it fits in memory");
    assert_eq!(changes.began.into_parts(), (vec![[0, 1]], vec![[0, 0, 0]]));
    assert_eq!(changes.ended.into_parts(), (vec![[0, 1]], vec![[1, 0, 0]]));
    assert_eq!(
        changes.lasted.into_parts(),
        (vec![[2, 3]], vec![[0, -1, 0]])
    );

    let mut by_time = found;
    by_time.sort_by_time();
    assert_eq!(by_time.pairs.images(), [[0, -1, 0], [1, 0, 0]]);
}

#[test]
fn a_sphere_touches_its_own_images_in_a_small_cell_unless_it_ignores_itself() {
    let domain = Domain::rectangular([0.0; 3], [1.0, 4.0, 4.0]);
    let sphere = Sphere::new([7.5, 0.0, 0.0], 1.0);
    let found = detect(&Step::new(&[sphere], 1.0).in_domain(&domain));
    // The second periodic copy along the x axis just touches the sphere.
    assert_eq!(listed(&found), [(0, 0, [1, 0, 0]), (0, 0, [2, 0, 0])]);
    assert_eq!((found.pairs[0].depth, found.pairs[1].depth), (1.0, 0.0));
    assert_eq!(found.contacts().expect("it fits in memory").of(0).len(), 4);
    let blind = sphere.with_groups(1, 1);
    assert!(
        detect(&Step::new(&[blind], 1.0).in_domain(&domain))
            .pairs
            .is_empty()
    );
    // In a domain that is not periodic along the x axis, the sphere has no copies along this axis.
    let channel = domain.with_periodic([false, true, true]);
    assert!(
        detect(&Step::new(&[sphere], 1.0).in_domain(&channel))
            .pairs
            .is_empty()
    );
}

/// Tests a crowd of spheres at a corner of the periodic cell. Images of the crowd are at all eight corners of
/// the cell. The grids must not test spheres at one corner against spheres at another, so each pair is tested
/// at most eight times.
#[test]
fn a_crowd_in_a_corner_of_the_cell_is_searched_eight_times_at_most() {
    let spheres = [Sphere::new([0.0; 3], 0.1); 300];
    let open = detect(&Step::new(&spheres, 1.0));
    let domain = Domain::rectangular([0.0; 3], [10.0; 3]);
    let periodic = detect(&Step::new(&spheres, 1.0).in_domain(&domain));
    assert_eq!(open.pairs.len(), 300 * 299 / 2);
    assert_eq!(*periodic.pairs, *open.pairs);
    assert!(periodic.pairs.images().iter().all(|image| *image == [0; 3]));
    let [open, periodic] = [open, periodic].map(|found| found.statistics.candidates);
    assert!(
        periodic <= 8 * open,
        "{periodic} candidates, {open} in open space"
    );
}

/// Dust (many small spheres) lies among large spheres on one face of a periodic cell. Its periodic copies lie
/// on the opposite face. This test checks that any two spheres or copies are tested against each other at
/// most once.
#[test]
fn dust_in_an_oblique_channel_is_tested_once_against_large_spheres() {
    let (spheres, domain) = dust_in_an_oblique_channel();
    let found = detect(&Step::new(&spheres, 1.0).in_domain(&domain));
    assert_each_pair_is_tested_once(&found);
    assert_eq!(listed(&found), brute_force(&spheres, 1.0, &domain));
}

/// Tests two spheres that miss each other, or overlap, by less than 10⁻¹⁷. This distance comes from a
/// tiny component of a periodic displacement, which float64 rounds away.
#[test]
fn a_displacement_that_float64_rounds_is_decided_exactly() {
    for power in [-60, -70, -90] {
        for (sign, expected) in [(1.0, vec![]), (-1.0, vec![(0, 1, [1, 1, 0])])] {
            let tilt = sign * 2_f32.powi(power);
            let edges = [[16.0, tilt, 0.0], [0.0, 8.25, 0.0], [0.0, 0.0, 8.0]];
            let domain = Domain::triclinic([0.0; 3], edges);
            let spheres = [[0.0; 3], [-16.0, -6.25, 0.0]].map(|center| Sphere::new(center, 1.0));
            let found = detect(&Step::new(&spheres, 1.0).in_domain(&domain));
            assert_eq!(listed(&found), expected, "{tilt}");
            assert!(found.pairs.iter().all(|pair| pair.depth == -tilt));
        }
    }
}

#[test]
fn bad_domains_are_errors_that_name_the_number() {
    let spheres = [Sphere::new([0.0; 3], 1.0); 2];
    let error = |spheres: &[Sphere], domain: &Domain| {
        let step = Step::new(spheres, 1.0).in_domain(domain);
        let found = detector().detect(&step);
        found.expect_err("the step is invalid").to_string()
    };
    let cube = Domain::rectangular([0.0; 3], [10.0; 3]);
    for (domain, parts) in [
        (
            Domain::rectangular([0.0, f32::NAN, 0.0], [1.0; 3]),
            ["origin.y", "NaN"],
        ),
        (
            Domain::rectangular([0.0; 3], [1.0, f32::INFINITY, 1.0]),
            ["edge 1", "inf"],
        ),
        (
            Domain::rectangular([0.0; 3], [1.0, 1.0, 2e18]),
            ["edge 2", "z = 2e18"],
        ),
        (
            Domain::rectangular([0.0; 3], [1.0, 0.0, 1.0]),
            ["edge 1", "length is 0"],
        ),
        (
            Domain::triclinic(
                [0.0; 3],
                [[1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 1.0]],
            ),
            ["parallel", "with_periodic"],
        ),
        (
            Domain::triclinic(
                [0.0; 3],
                [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]],
            ),
            ["parallel", "with_periodic"],
        ),
    ] {
        let text = error(&spheres, &domain);
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
    // If the world is not periodic along an edge of the cell, the edge may have any length, even 0.
    let slab = Domain::rectangular([0.0; 3], [10.0, 10.0, 0.0]).with_periodic([true, true, false]);
    assert_eq!(
        detect(&Step::new(&spheres, 1.0).in_domain(&slab))
            .pairs
            .len(),
        1
    );

    let far = [spheres[0], Sphere::new([1e9, 0.0, 0.0], 1.0)];
    let text = error(&far, &cube);
    assert!(
        text.contains("sphere 1 ") && text.contains("cells away"),
        "{text}"
    );
    let wide = [Sphere::new([0.0; 3], 2000.0)];
    let text = error(&wide, &cube);
    assert!(text.contains("images") && text.contains("limit"), "{text}");
    let open = Step::new(&spheres, 1.0);
    assert!(matches!(
        Hits::<Collision>::with_images(Vec::new(), vec![[0; 3]]),
        Err(Error::ImageCount {
            pairs: 0,
            images: 1,
            ..
        })
    ));
    let pairs = || vec![Collision::default()];
    let with_image = Hits::with_images(pairs(), vec![[0; 3]]).expect("one image for one pair");
    for (step, list, images) in [
        (open, with_image, 1),
        (open.in_domain(&cube), Hits::new(pairs()), 0),
    ] {
        let error = verify(&step, &list).err();
        assert!(
            matches!(error, Some(Error::ImageCount { pairs: 1, images: told, .. }) if told == images),
            "{error:?}"
        );
    }
}

#[test]
fn a_detector_without_a_choice_of_backend_uses_the_cpu() {
    let domain = Domain::rectangular([0.0; 3], [10.0; 3]);
    let spheres = [[0.5, 5.0, 5.0], [9.5, 5.0, 5.0]].map(|center| Sphere::new(center, 1.0));
    let mut detector = Detector::new(Options::default()).expect("the CPU is always there");
    let step = Step::new(&spheres, 1.0).in_domain(&domain);
    let found = detector.detect(&step).expect("the step is valid");
    assert_eq!(listed(&found), [(0, 1, [-1, 0, 0])]);
    // After a step in a periodic domain, a step in open space lists no periodic copies.
    let open = detector
        .detect(&Step::new(&spheres, 1.0))
        .expect("the step is valid");
    assert!(open.pairs.is_empty() && open.pairs.images().is_empty());
}

#[test]
fn a_reused_list_has_no_images_of_the_step_before() {
    let mut detector = detector();
    let domain = Domain::rectangular([0.0; 3], [10.0; 3]);
    let mut list = Collisions::default();
    let mut with_images = 0;
    for seed in 0..6_usize {
        let mut rng = Rng::with_seed(seed as u64);
        let count = [3000, 2000, 3000][seed % 3];
        let mut place = || [0; 3].map(|_| 10.0 * rng.f32());
        let spheres: Vec<_> = (0..count).map(|_| Sphere::new(place(), 0.5)).collect();
        let mut step = Step::new(&spheres, 0.0);
        if seed != 3 {
            step = step.in_domain(&domain);
        }
        detector
            .detect_into(&step, &mut list)
            .expect("a valid step");
        let fresh = detect(&step);
        assert_eq!(list.pairs, fresh.pairs);
        with_images += list
            .pairs
            .images()
            .iter()
            .filter(|image| **image != [0; 3])
            .count();
    }
    assert!(with_images > 1000);
}
