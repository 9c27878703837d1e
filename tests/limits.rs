//! Tests that a time step that carom cannot compute is an error, never an incomplete list, a panic,
//! or hours of computation. The error names the problem, its place and the remedy.

mod backends;

use backends::{both, detector, with_threads};
use carom::{
    Backend, Collisions, Detector, Domain, Error, Field, MAX_MAGNITUDE, Options, Sphere, Step, toi,
};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

fn crowd(count: usize) -> Vec<Sphere> {
    vec![Sphere::new([1.0, 2.0, 3.0], 0.5); count]
}

fn error(result: Result<Collisions, Error>) -> Error {
    match result {
        Ok(found) => panic!(
            "expected an error, got a list of {} pairs",
            found.pairs.len()
        ),
        Err(error) => error,
    }
}

/// Returns the number of candidates (pairs that get tested) and the limit from an error about too many
/// candidates.
fn too_many_candidates(error: &Error) -> Option<(u64, u64)> {
    match *error {
        Error::TooManyCandidates { needed, limit, .. } => Some((needed, limit)),
        _ => None,
    }
}

/// Returns the number of colliding pairs and the limit from an error about too many pairs.
fn too_many_pairs(error: &Error) -> Option<(u64, u64)> {
    match *error {
        Error::TooManyPairs { needed, limit, .. } => Some((needed, limit)),
        _ => None,
    }
}

#[test]
fn a_sphere_out_of_range_is_named_by_index_and_field() {
    let good = Sphere::new([1.0, 2.0, 3.0], 0.5).with_velocity([4.0, 5.0, 6.0]);
    let over = MAX_MAGNITUDE * 1.001;
    let cases = [
        (
            Sphere {
                center: [f32::NAN, 0.0, 0.0],
                ..good
            },
            Field::Center(0),
        ),
        (
            Sphere {
                center: [0.0, f32::INFINITY, 0.0],
                ..good
            },
            Field::Center(1),
        ),
        (
            Sphere {
                center: [0.0, 0.0, -over],
                ..good
            },
            Field::Center(2),
        ),
        (
            Sphere {
                radius: -0.1,
                ..good
            },
            Field::Radius,
        ),
        (
            Sphere {
                radius: f32::NAN,
                ..good
            },
            Field::Radius,
        ),
        (
            Sphere {
                radius: over,
                ..good
            },
            Field::Radius,
        ),
        (
            Sphere {
                velocity: [f32::NEG_INFINITY, 0.0, 0.0],
                ..good
            },
            Field::Velocity(0),
        ),
        (
            Sphere {
                velocity: [0.0, f32::NAN, 0.0],
                ..good
            },
            Field::Velocity(1),
        ),
        (
            Sphere {
                velocity: [0.0, 0.0, MAX_MAGNITUDE],
                ..good
            },
            Field::Displacement(2),
        ),
    ];
    both(|detector| {
        for (bad, field) in cases {
            let mut spheres = vec![good; 40_000];
            spheres[31_234] = bad;
            match error(detector.detect(&Step::new(&spheres, 2.0))) {
                Error::InvalidSphere {
                    index: 31_234,
                    set: None,
                    field: named,
                    ..
                } => assert_eq!(named, field),
                other => panic!("{bad:?}: {other}"),
            }
            let few = &spheres[31_233..31_236];
            match error(detector.detect(&Step::between(&[good], few, 2.0))) {
                Error::InvalidSphere {
                    index: 1,
                    set: Some(1),
                    field: named,
                    ..
                } => assert_eq!(named, field),
                other => panic!("{bad:?}: {other}"),
            }
        }
        let edge =
            Sphere::new([MAX_MAGNITUDE; 3], MAX_MAGNITUDE).with_velocity([-MAX_MAGNITUDE; 3]);
        let tiny = Sphere::new([f32::from_bits(1); 3], 0.0);
        let found = detector
            .detect(&Step::new(&[edge, tiny, edge], 1.0))
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            found.pairs.len(),
            3,
            "the two large spheres touch each other and the small one"
        );
    });
}

#[test]
fn toi_refuses_the_same_inputs_as_a_step() {
    let good = Sphere::new([1.0, 2.0, 3.0], 0.5);
    let bad = Sphere::new([1.0, f32::NAN, 3.0], 0.5);
    for (pair, at) in [([bad, good], 0), ([good, bad], 1)] {
        match toi(&pair[0], &pair[1], 1.0) {
            Err(Error::InvalidSphere {
                index,
                set: None,
                field: Field::Center(1),
                value,
                ..
            }) => assert!(index == at && value.is_nan()),
            other => panic!("{other:?}"),
        }
    }
    for dt in [-1.0, f32::NAN, f32::INFINITY] {
        let refused = toi(&good, &good, dt);
        assert!(
            matches!(refused, Err(Error::InvalidTimeStep { .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn the_error_of_an_invalid_sphere_names_index_field_value_and_range() {
    let spheres = [Sphere::new([0.0; 3], 1.0), Sphere::new([0.0; 3], -2.0)];
    let message =
        error(detector(Backend::Cpu, Options::default()).detect(&Step::new(&spheres, 1.0)))
            .to_string();
    for part in ["sphere 1", "radius", "-2", "from 0"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_time_step_out_of_range_is_refused() {
    both(|detector| {
        for dt in [
            -1.0,
            -f32::MIN_POSITIVE,
            f32::NAN,
            f32::INFINITY,
            MAX_MAGNITUDE * 1.001,
        ] {
            let error = error(detector.detect(&Step::new(&crowd(2), dt)));
            assert!(
                matches!(error, Error::InvalidTimeStep { .. }),
                "dt {dt}: {error}"
            );
        }
        let found = detector
            .detect(&Step::new(&crowd(2), MAX_MAGNITUDE))
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found.pairs.len(), 1);
    });
}

#[test]
fn a_world_past_the_candidate_limit_is_refused_before_it_is_tested() {
    both(|detector| {
        let count = 200_000;
        match error(detector.detect(&Step::new(&crowd(count), 1.0))) {
            Error::TooManyCandidates { needed, limit, .. } => {
                assert_eq!((needed, limit), ((count * (count - 1) / 2) as u64, 1 << 34));
            }
            other => panic!("{other}"),
        }
        assert_eq!(
            detector
                .detect(&Step::new(&crowd(3), 1.0))
                .map(|found| found.pairs.len()),
            Ok(3)
        );
    });
    for backend in [Backend::Cpu, Backend::Gpu] {
        let limit = |max_candidates| Options::new().with_max_candidates(max_candidates);
        let pairs = 100 * 99 / 2;
        let refused =
            error(detector(backend, limit(pairs - 1)).detect(&Step::new(&crowd(100), 1.0)));
        assert_eq!(too_many_candidates(&refused), Some((pairs, pairs - 1)));
        let found = detector(backend, limit(pairs)).detect(&Step::new(&crowd(100), 1.0));
        assert_eq!(found.map(|found| found.statistics.candidates), Ok(pairs));
    }
}

#[test]
fn candidates_of_giants_among_dust_are_limited() {
    let side = 0..20_u16;
    let dust = side.clone().flat_map(|x| {
        let rows = side
            .clone()
            .flat_map(move |y| (0..20_u16).map(move |z| [x, y, z]));
        rows.map(|place| Sphere::new(place.map(|k| f32::from(k) - 9.7), 0.4995))
    });
    let corners = (0..8_u16).map(|k| [k & 1, k >> 1 & 1, k >> 2].map(|k| f32::from(k) - 0.5));
    let giants = corners.map(|corner| Sphere::new(corner.map(|x| x * 1.154_700_5e9), 1e9));
    let spheres: Vec<Sphere> = dust.chain(giants).collect();
    let detect = |max_candidates| {
        let options = Options::new().with_max_candidates(max_candidates);
        detector(Backend::Cpu, options).detect(&Step::new(&spheres, 0.0))
    };
    let needed = match detect(1 << 34) {
        Ok(found) => found.statistics.candidates,
        Err(error) => panic!("{error}"),
    };
    assert!(detect(needed).is_ok());
    for limit in [needed - 1, needed / 2] {
        let refused = error(detect(limit));
        assert_eq!(too_many_candidates(&refused), Some((needed, limit)));
    }
}

/// Sixteen large spheres in a thin periodic cell have thousands of copies, all of which are tested
/// against one another.
#[test]
fn candidates_of_copies_in_a_thin_cell_are_limited() {
    let mut rng = fastrand::Rng::with_seed(1);
    let spheres: Vec<Sphere> = (0..16)
        .map(|_| [0.04, 40.0, 40.0].map(|edge| edge * rng.f32()))
        .map(|center| Sphere::new(center, 4.0))
        .collect();
    let domain = Domain::rectangular([0.0; 3], [0.04, 40.0, 40.0]);
    let step = Step::new(&spheres, 1.0).in_domain(&domain);
    for backend in [Backend::Cpu, Backend::Gpu] {
        let detect = |max_candidates| {
            let options = Options::new().with_max_candidates(max_candidates);
            detector(backend, options).detect(&step)
        };
        let needed = match detect(1 << 34) {
            Ok(found) => found.statistics.candidates,
            Err(error) => panic!("{error}"),
        };
        assert!(needed > 1_000_000, "{needed}");
        assert!(detect(needed).is_ok());
        for limit in [needed - 1, needed / 2, needed / 8] {
            let refused = error(detect(limit));
            assert_eq!(too_many_candidates(&refused), Some((needed, limit)));
        }
    }
}

/// carom cuts long paths into time segments, and may find a pair in several segments. It must count the
/// pair only once.
#[test]
fn only_touching_pairs_count_towards_the_pair_limit() {
    let mut spheres: Vec<Sphere> = (0..40_u16)
        .map(|k| {
            let velocity = [7.0, f32::from(k) * 1e-10, 0.0];
            Sphere::new([0.0; 3], 1e-4).with_velocity(velocity)
        })
        .collect();
    let rng = &mut fastrand::Rng::with_seed(1);
    spheres.extend((0..2000).map(|_| {
        let place = [0; 3].map(|_| rng.f32() * 14.0 - 7.0);
        Sphere::new(place, 1e-3)
    }));
    for backend in [Backend::Cpu, Backend::Gpu] {
        let detect = |max_pairs| {
            let options = Options::new().with_max_pairs(max_pairs);
            detector(backend, options).detect(&Step::new(&spheres, 1.0))
        };
        let pairs = match detect(1 << 28) {
            Ok(found) => found.pairs.len() as u64,
            Err(error) => panic!("{error}"),
        };
        assert!(pairs >= 40 * 39 / 2);
        assert_eq!(
            detect(pairs).map(|found| found.pairs.len() as u64),
            Ok(pairs)
        );
        let (needed, limit) = (pairs, pairs - 1);
        assert_eq!(too_many_pairs(&error(detect(limit))), Some((needed, limit)));
    }
}

#[test]
fn more_pairs_than_the_limit_are_refused_and_counted() {
    for backend in [Backend::Cpu, Backend::Gpu] {
        let limit = |max_pairs| Options::new().with_max_pairs(max_pairs);
        let refused = error(detector(backend, limit(4949)).detect(&Step::new(&crowd(100), 1.0)));
        assert_eq!(too_many_pairs(&refused), Some((4950, 4949)));
        let found = detector(backend, limit(4950)).detect(&Step::new(&crowd(100), 1.0));
        assert_eq!(found.map(|found| found.pairs.len()), Ok(4950));
    }
}

/// Tests a step with eighteen million pairs, for which many devices allow no buffer. The result must be
/// the whole list, or an error that names the device's limit.
#[test]
fn pairs_that_a_device_cannot_hold_are_an_error_that_names_the_limit() {
    let count = 6000;
    let mut detector = detector(Backend::Gpu, Options::default());
    match detector.detect(&Step::new(&crowd(count), 1.0)) {
        Ok(found) => assert_eq!(found.pairs.len(), count * (count - 1) / 2),
        Err(Error::DeviceLimit {
            what: "pairs",
            limit,
            needed,
            available,
            ..
        }) => {
            assert!(["max_storage_buffer_binding_size", "max_buffer_size"].contains(&limit));
            assert!(needed >= (count * (count - 1) / 2 * 8) as u64 && needed > available);
        }
        Err(other) => panic!("{other}"),
    }
    assert_eq!(
        detector
            .detect(&Step::new(&crowd(3), 1.0))
            .map(|found| found.pairs.len()),
        Ok(3)
    );
}

#[test]
fn statistics_describe_the_step() {
    let [cpu, gpu] = both(|detector| {
        let spheres: Vec<Sphere> = (0..1000)
            .map(|i| Sphere::new([i as f32, 0.0, 0.0], 0.5))
            .collect();
        detector
            .detect(&Step::new(&spheres, 1.0))
            .unwrap_or_else(|error| panic!("{error}"))
            .statistics
    });
    for statistics in [&cpu, &gpu] {
        assert!(statistics.slots >= 1000 && statistics.memory >= 4 * statistics.slots);
        assert_eq!(
            (statistics.spheres, statistics.proxies, statistics.pairs),
            (1000, 1000, 999)
        );
        assert!(statistics.candidates >= 999 && statistics.levels >= 1);
        assert_eq!(
            statistics.grazing, 999,
            "each sphere touches the next one exactly, so all pairs are grazing"
        );
        assert!(!statistics.reason.is_empty());
    }
    assert_eq!((cpu.backend, gpu.backend), (Backend::Cpu, Backend::Gpu));
    assert_eq!(cpu.adapter, None);
    assert!(gpu.adapter.is_some());
    let names = |statistics: &carom::Statistics| -> Vec<_> {
        statistics.stages.iter().map(|stage| stage.0).collect()
    };
    let stages = [
        "measure", "plan", "bin", "scan", "scatter", "pairs", "decide",
    ];
    // The CPU does not report all stages of a step: the time of the stage `scan` is included in `scatter`.
    let on_cpu: Vec<_> = stages.into_iter().filter(|name| *name != "scan").collect();
    assert_eq!(names(&cpu), on_cpu);
    // The other stages of a step on a GPU run on the host, which waits for the stages of the GPU. A GPU without
    // timestamps reports only these.
    let mut gpu = names(&gpu);
    let (before, after) = (["upload", "submit", "wait"], ["unpack", "decide"]);
    assert!(gpu.starts_with(&before) && gpu.ends_with(&after), "{gpu:?}");
    gpu.drain(..before.len());
    gpu.truncate(gpu.len() - after.len());
    assert!(
        gpu.is_empty() || gpu == stages[..stages.len() - 1],
        "{gpu:?}"
    );
}

#[test]
fn the_list_does_not_depend_on_threads_or_history() {
    let world = |count: usize, seed: u64| -> Vec<Sphere> {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut vector = |scale: f32| [0; 3].map(|_| (rng.f32() - 0.5) * scale);
        (0..count)
            .map(|i| {
                Sphere::new(vector(40.0), 0.5).with_velocity(vector(if i % 20 == 0 {
                    80.0
                } else {
                    1.0
                }))
            })
            .collect()
    };
    let spheres = world(20_000, 1);
    let list = |threads| {
        let mut detector = detector(Backend::Cpu, Options::new());
        with_threads(threads, || detector.detect(&Step::new(&spheres, 1.0)))
            .map(|found| found.pairs)
    };
    let one = list(1);
    assert!(one.as_ref().is_ok_and(|pairs| pairs.len() > 20_000));
    for threads in [2, 3, 8] {
        assert_eq!(list(threads), one, "{threads} threads");
    }
    both(|detector| {
        for count in [50_000, 10, 0, 1, 30_000] {
            assert!(detector.detect(&Step::new(&world(count, 2), 0.5)).is_ok());
        }
        assert_eq!(
            detector
                .detect(&Step::new(&spheres, 1.0))
                .map(|found| found.pairs),
            one
        );
    });
}

/// At extreme speeds and times, squares may underflow in float32. Even then, carom's float32 test must
/// leave only nearly tangent pairs undecided.
#[test]
fn slow_motion_and_long_steps_leave_few_grazing_pairs() {
    let mut rng = fastrand::Rng::with_seed(9);
    for (speed, dt) in [(1e-15, 1.0), (1e-30, 1.0), (1e-16, 5e15), (1e16, 5e-17)] {
        let mut vector = |scale: f32| [0; 3].map(|_| (rng.f32() - 0.5) * scale);
        let spheres: Vec<Sphere> = (0..10_000)
            .map(|_| Sphere::new(vector(38.0), 0.5).with_velocity(vector(speed)))
            .collect();
        let [cpu, gpu] = both(|detector| {
            let found = detector.detect(&Step::new(&spheres, dt));
            let found = found.unwrap_or_else(|error| panic!("{error}"));
            assert!(found.statistics.grazing <= 10, "{:?}", found.statistics);
            found.pairs
        });
        assert_eq!(cpu, gpu);
    }
}

/// After a large world, a detector keeps its memory during a number of steps with small worlds,
/// because the next world may be large again. Then it releases the memory.
#[test]
fn the_memory_of_a_large_world_is_released_eventually() {
    // Returns `count` spheres at places along a line, with `crowd` spheres at each place. Spheres
    // at different places do not touch.
    let row = |count: u32, crowd: u32| -> Vec<Sphere> {
        let place = |i: u32| [3.0 * (i / crowd) as f32, 0.0, 0.0];
        (0..count).map(|i| Sphere::new(place(i), 1.0)).collect()
    };
    let of_threads = |threads| {
        let memory = |detector: &mut Detector, count, crowd| {
            let found = detector.detect(&Step::new(&row(count, crowd), 1.0));
            found.map_or_else(|error| panic!("{error}"), |found| found.statistics.memory)
        };
        let [mut kept, mut fresh] = [0; 2].map(|_| detector(Backend::Cpu, Options::new()));
        let large = memory(&mut kept, 200_000, 1).max(memory(&mut kept, 20_000, 400));
        assert_eq!(memory(&mut kept, 100, 1), large);
        let last = (0..5000).fold(0, |_, _| memory(&mut kept, 100, 1));
        let small = memory(&mut fresh, 100, 1);
        assert!(
            last < 4 * small,
            "{threads} threads: {last} of {large} bytes are still kept, a new detector has {small}"
        );
    };
    for threads in [1, 8] {
        with_threads(threads, || of_threads(threads));
    }
}

/// A thread of a rayon pool may run another task while its own task waits. In this test, every task of
/// a pool is a step with a detector of its own, so steps may run within steps on the same stack. The tasks call
/// their detectors in the same pool, or in another pool.
#[test]
fn steps_work_in_tasks_of_a_pool_and_within_other_steps() {
    let spheres = crowd(1025);
    let pool = |threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap_or_else(|error| panic!("{error}"))
    };
    let outer = pool(2);
    let step = || {
        let mut detector = detector(Backend::Cpu, Options::new());
        let found = detector.detect(&Step::new(&spheres, 1.0));
        found.map(|found| found.pairs.len())
    };
    let expected = Ok(vec![1025 * 1024 / 2; 100]);
    let tasks = || (0..100).into_par_iter();
    let pairs: Result<Vec<usize>, Error> = outer.install(|| tasks().map(|_| step()).collect());
    assert_eq!(pairs, expected);
    for threads in [1, 2] {
        let inner = pool(threads);
        let pairs: Result<Vec<usize>, Error> =
            outer.install(|| tasks().map(|_| inner.install(step)).collect());
        assert_eq!(pairs, expected, "{threads} threads");
    }
}

#[test]
fn a_reused_detector_gives_the_list_of_a_new_one() {
    let row = |count: usize| -> Vec<Sphere> {
        let place = |i: usize| [i % 8, i / 8 % 4, i / 32].map(|x| 1.5 * x as f32);
        (0..count).map(|i| Sphere::new(place(i), 1.0)).collect()
    };
    let mut kept = detector(Backend::Cpu, Options::default());
    let sizes = (1..700).chain([
        253, 260, 381, 392, 2045, 2108, 70_000, 4, 8, 5000, 4096, 4224,
    ]);
    for count in sizes {
        let world = row(count);
        let found = kept
            .detect(&Step::new(&world, 1.0))
            .map(|found| found.pairs);
        let fresh = detector(Backend::Cpu, Options::default()).detect(&Step::new(&world, 1.0));
        assert_eq!(found, fresh.map(|found| found.pairs), "{count} spheres");
    }
}
