//! Compares the CPU and the GPU backend with exact brute force in small random worlds of widely different
//! scales. The crate proptest reduces a world that fails to a minimal example.

mod backends;
mod oracle;

use std::cell::{Cell, RefCell};

use backends::both;
use carom::{Error, Options, Sphere, Step};
use oracle::check::differences;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

const CASES: u32 = 256;
/// Some software GPU drivers end long loops of shaders too early, and carom then returns an error. This is
/// the largest accepted number of random worlds with this error.
const MOST_REFUSED: u32 = CASES / 16;
const MOST: usize = 40;

/// Generates a number related to the unit 2^scale: 0, a small multiple of the unit, any number up
/// to 4 units in magnitude, or one of another order of magnitude. With multiples of the unit,
/// numbers and differences are often equal.
fn number(scale: i32) -> impl Strategy<Value = f32> {
    let unit = 2_f32.powi(scale);
    prop_oneof![
        2 => Just(0.0),
        6 => (-4_i8..=4).prop_map(move |k| f32::from(k) * unit),
        6 => (-4.0..4.0_f32).prop_map(move |x| x * unit),
        1 => ((scale - 30).max(-140)..=(scale + 2), -1.0..1.0_f32)
            .prop_map(|(scale, x)| x * 2_f32.powi(scale)),
    ]
}

fn vector(scale: i32) -> impl Strategy<Value = [f32; 3]> {
    [number(scale), number(scale), number(scale)]
}

/// Generates a sphere. `place`, `radius` and `speed` are the scales of its position, radius and
/// velocity, as exponents of two. Its velocity may be one of `velocities`, so that several spheres
/// have equal velocities.
fn sphere(
    place: i32,
    radius: i32,
    speed: i32,
    velocities: Vec<[f32; 3]>,
) -> impl Strategy<Value = Sphere> {
    let velocity = prop_oneof![
        2 => vector(speed),
        1 => proptest::sample::select(velocities),
    ];
    // Only a few spheres are in collision groups, and even fewer ignore a group. Otherwise, nearly all pairs
    // would be excluded.
    let groups = prop_oneof![
        3 => Just((0, 0)),
        1 => (0_u16..4, prop_oneof![2 => Just(0_u16), 1 => 0_u16..4]),
    ];
    (vector(place), number(radius), velocity, groups).prop_map(
        |(center, radius, velocity, (member_of, ignored))| {
            Sphere::new(center, radius.abs())
                .with_velocity(velocity)
                .with_groups(member_of, ignored)
        },
    )
}

fn world() -> impl Strategy<Value = (Vec<Sphere>, f32)> {
    // Scales of the position, radius, displacement and time, as exponents of two. A third of the
    // worlds have ordinary scales, and a third have a wider range. The others have scales up to the
    // largest magnitude that carom accepts, 2⁶⁰.
    let scales = prop_oneof![
        (-4..4, -6..6, -6..6, -3..3),
        (-20..20, -20..20, -20..20, -10..10),
        (-140..58, -140..58, -140..58, -60..58),
    ];
    let step = prop_oneof![1 => Just(0.0), 3 => Just(1.0), 3 => 1.0..2.0_f32];
    (scales, step).prop_flat_map(
        |((place, radius, shift, time), step): ((i32, i32, i32, i32), f32)| {
            // The speed is limited so that the displacement of a sphere during the step does not exceed 2⁶⁰.
            let speed = (shift - time).clamp(-140, 57).min(56 - time);
            proptest::collection::vec(vector(speed), 1..4)
                .prop_flat_map(move |velocities| {
                    let sphere = sphere(place, radius, speed, velocities);
                    let repeats = proptest::collection::vec(any::<proptest::sample::Index>(), 0..4);
                    (proptest::collection::vec(sphere, 0..MOST), repeats)
                })
                .prop_map(move |(mut spheres, repeats)| {
                    for repeat in repeats {
                        if !spheres.is_empty() && spheres.len() < MOST {
                            spheres.push(*repeat.get(&spheres));
                        }
                    }
                    (spheres, step * 2_f32.powi(time))
                })
        },
    )
}

/// Runs random worlds with one detector per backend. The caller's function `wrong` runs a world and
/// describes the differences from brute force.
fn try_many<W: std::fmt::Debug>(
    worlds: impl Strategy<Value = W>,
    wrong: impl Fn(&mut carom::Detector, &W) -> Result<String, carom::Error>,
) {
    let config = Config {
        cases: CASES,
        failure_persistence: None,
        max_shrink_iters: 1024,
        ..Config::default()
    };
    both(|detector| {
        let backend = detector.backend();
        let detector = RefCell::new(detector);
        let refused = Cell::new(0);
        // The seed is fixed, so every run generates the same worlds.
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let outcome = TestRunner::new_with_rng(config.clone(), rng).run(&worlds, |world| {
            let found = wrong(&mut detector.borrow_mut(), &world);
            let found = match found {
                Err(Error::Device { reason, .. }) if reason.contains("ends loops") => {
                    println!("refused: {world:?}");
                    refused.set(refused.get() + 1);
                    **detector.borrow_mut() = backends::detector(backend, Options::default());
                    return Ok(());
                }
                other => other.map_err(|error| TestCaseError::fail(error.to_string()))?,
            };
            prop_assert!(found.is_empty(), "{found}");
            Ok(())
        });
        assert!(
            refused.get() <= MOST_REFUSED,
            "{backend:?} refused {} worlds",
            refused.get()
        );
        match outcome {
            Ok(()) => {}
            Err(TestError::Fail(why, world)) => panic!("{backend:?}: {why}\n{world:#?}"),
            Err(error) => panic!("{backend:?}: {error}"),
        }
    });
}

#[test]
fn small_worlds_match_brute_force() {
    try_many(world(), |detector, (spheres, dt)| {
        let found = detector.detect(&Step::new(spheres, *dt))?;
        let truth = oracle::brute_force(spheres, *dt);
        Ok(differences(&truth, spheres, spheres, *dt, &found.pairs))
    });
}

#[test]
fn two_small_sets_match_brute_force() {
    let two_sets = (world(), any::<proptest::sample::Index>());
    try_many(two_sets, |detector, ((spheres, dt), split)| {
        let (first, second) = spheres.split_at(split.index(spheres.len() + 1));
        let found = detector.detect(&Step::between(first, second, *dt))?;
        let truth = oracle::brute_force_between(first, second, *dt);
        Ok(differences(&truth, first, second, *dt, &found.pairs))
    });
}
