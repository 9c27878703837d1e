//! Tests that time steps recorded into an application's encoder give the same colliding pairs as
//! carom's `Detector`. The layouts of buffers and the order of steps, submits and readbacks vary.

#![allow(
    clippy::cast_possible_truncation,
    reason = "counts of some thousands, and float32 on purpose"
)]

mod backends;
mod device;

use backends::detector;
use carom::gpu::{
    Attribute, BufferOptions, Capacity, CollisionBuffers, CollisionPipeline, DeviceSpheres,
    SimulationBufferOptions, Status, wgpu,
};
use carom::{Backend, Collision, Error, Hits, Options, Sphere, Step};
use carom_scenes::Scene;
use device::{Device, Interleaved, exact, ready};
use fastrand::Rng;

type Result<T = ()> = std::result::Result<T, Error>;

fn truth(spheres: &[Sphere], dt: f32) -> Hits<Collision> {
    match detector(Backend::Cpu, Options::default()).detect(&Step::new(spheres, dt)) {
        Ok(found) => found.pairs,
        Err(error) => panic!("{error}"),
    }
}

fn truth_between(first: &[Sphere], second: &[Sphere], dt: f32) -> Hits<Collision> {
    match detector(Backend::Cpu, Options::default()).detect(&Step::between(first, second, dt)) {
        Ok(found) => found.pairs,
        Err(error) => panic!("{error}"),
    }
}

fn world(device: &Device, spheres: u32) -> Result<CollisionBuffers> {
    CollisionPipeline::new(&device.device)?.create_buffers(&BufferOptions::new(spheres))
}

/// Returns a gas of spheres, a few of which are very fast. Every third sphere belongs to collision group 0
/// and ignores it, so these spheres do not collide with each other.
fn gas(count: usize, seed: u64) -> Vec<Sphere> {
    let mut spheres = Scene::Fast.generate(count, seed);
    for (i, sphere) in spheres.iter_mut().enumerate() {
        sphere.groups = if i % 3 == 0 { 1 | 1 << 16 } else { 0 };
    }
    spheres
}

/// Returns the contents of a buffer, as 32-bit words, that stores one attribute of each sphere, such as its
/// radius. The attribute of sphere i begins at word `offset + stride * i`. The caller's function `put`
/// returns the attribute of one sphere as words.
fn laid_out(
    spheres: &[Sphere],
    offset: usize,
    stride: usize,
    put: fn(&Sphere) -> Vec<u32>,
) -> Vec<u32> {
    // The gaps between the attributes are NaN, which shows that carom does not read them.
    let mut words = vec![f32::NAN.to_bits(); offset + stride * spheres.len() + 3];
    for (i, sphere) in spheres.iter().enumerate() {
        let values = put(sphere);
        words[offset + stride * i..][..values.len()].copy_from_slice(&values);
    }
    words
}

fn bits<const N: usize>(values: [f32; N]) -> Vec<u32> {
    values.map(f32::to_bits).to_vec()
}

#[test]
fn every_layout_of_the_callers_buffers_gives_the_detectors_list() -> Result {
    let device = Device::real();
    let spheres = gas(3000, 1);
    let mut buffers = world(&device, 4000)?;
    let count = 3000;
    let expected = truth(&spheres, 0.5);
    assert!(expected.len() > 300);

    let one = Interleaved::new(&device, &spheres);
    let found = exact(&device, &mut buffers, &Step::on_device(one.spheres(), 0.5));
    assert_eq!(found.collisions.pairs, expected);
    assert_eq!(found.summary.spheres, 3000);
    let found = exact(&device, &mut buffers, &Step::new(&spheres, 0.5));
    assert_eq!(found.collisions.pairs, expected);

    // Each attribute of the spheres (centre, radius, velocity and group) is in a buffer of its own, with gaps
    // between the values. The number of spheres is in a buffer, too.
    let centers = device.words(&laid_out(&spheres, 77, 5, |s| bits(s.center)));
    let radii = device.words(&laid_out(&spheres, 1, 1, |s| bits([s.radius])));
    let velocities = device.words(&laid_out(&spheres, 1000, 3, |s| bits(s.velocity)));
    let groups = device.words(&laid_out(&spheres, 0, 2, |s| vec![s.groups]));
    let counts = device.words(&[9, 9, 9, count]);
    let at = |buffer, offset: u64, stride: u64| Attribute::new(buffer, 4 * offset, 4 * stride);
    let apart = DeviceSpheres::new(count, at(&centers, 77, 5), at(&radii, 1, 1))
        .with_count_in(&counts, 12)
        .with_velocity(at(&velocities, 1000, 3))
        .with_groups(at(&groups, 0, 2));
    let found = exact(&device, &mut buffers, &Step::on_device(apart, 0.5));
    assert_eq!(found.collisions.pairs, expected);

    let alike: Vec<Sphere> = spheres.iter().map(|s| Sphere::new(s.center, 0.7)).collect();
    let still = DeviceSpheres::new(count, at(&centers, 77, 5), 0.7)
        .with_count_in(&counts, 12)
        .with_groups(1);
    let found = exact(&device, &mut buffers, &Step::on_device(still, 0.5));
    assert_eq!(found.collisions.pairs, truth(&alike, 0.5));
    device.assert_silent();
    Ok(())
}

#[test]
fn previous_centers_define_the_motion() -> Result {
    let device = Device::real();
    let mut buffers = world(&device, 4000)?;
    // All displacements are multiples of 1/16, which float32 represents exactly. So the difference
    // of the current and the previous centre of a sphere is exactly its displacement. The result
    // must be the same as for spheres that are given by their velocities.
    let mut rng = Rng::with_seed(5);
    let mut sixteenth = |most: i32| rng.i32(-most..=most) as f32 / 16.0;
    let spheres: Vec<Sphere> = (0..3000)
        .map(|_| {
            Sphere::new([0; 3].map(|_| sixteenth(150)), 0.4)
                .with_velocity([0; 3].map(|_| sixteenth(40)))
        })
        .collect();
    let centers = device.words(&laid_out(&spheres, 0, 3, |s| {
        bits([0, 1, 2].map(|k| s.center[k] + s.velocity[k]))
    }));
    let previous = device.words(&laid_out(&spheres, 2, 4, |s| bits(s.center)));
    let source = DeviceSpheres::new(3000, Attribute::new(&centers, 0, 12), 0.4)
        .with_previous_center(Attribute::new(&previous, 8, 16));
    let (mut expected, _) = truth(&spheres, 1.0).into_parts();
    for pair in &mut expected {
        pair.toi *= 0.125;
    }
    let found = exact(&device, &mut buffers, &Step::on_device(source, 0.125));
    assert!(expected.len() > 300);
    assert_eq!(*found.collisions.pairs, expected);
    device.assert_silent();
    Ok(())
}

#[test]
fn two_sets_give_the_same_list_from_buffers_and_from_the_host() -> Result {
    let device = Device::real();
    let mut buffers = world(&device, 4000)?;
    let (first, second) = (gas(1000, 2), gas(2500, 3));
    let expected = truth_between(&first, &second, 1.0);
    assert!(expected.len() > 100);
    let sets = [&first, &second].map(|set| Interleaved::new(&device, set));
    let [one, other] = sets.each_ref().map(Interleaved::spheres);
    let found = [
        exact(
            &device,
            &mut buffers,
            &Step::between_on_device(one, other, 1.0),
        ),
        exact(&device, &mut buffers, &Step::between(&first, &second, 1.0)),
    ];
    for found in found {
        assert_eq!(found.collisions.pairs, expected);
        let summary = found.summary;
        assert_eq!(
            (summary.spheres, summary.second_set_start),
            (3500, Some(1000))
        );
    }
    let none = device.words(&[0]);
    let empty = sets[0].first(0);
    let counted = one.with_count_in(&none, 0);
    let on_device = [
        Step::between_on_device(empty, other, 1.0),
        Step::between_on_device(counted, other, 1.0),
        Step::between_on_device(other, empty, 1.0),
        Step::between_on_device(other, counted, 1.0),
        Step::on_device(empty, 1.0),
        Step::on_device(counted, 1.0),
    ];
    let on_host = [
        Step::between(&[], &second, 1.0),
        Step::between(&first, &[], 1.0),
        Step::new(&[], 1.0),
    ];
    let found = (on_device
        .iter()
        .map(|step| exact(&device, &mut buffers, step)))
    .collect::<Vec<_>>()
    .into_iter()
    .chain(
        on_host
            .iter()
            .map(|step| exact(&device, &mut buffers, step)),
    );
    for found in found {
        assert_eq!(
            (found.collisions.pairs.len(), found.summary.status),
            (0, Status::empty())
        );
    }
    device.assert_silent();
    Ok(())
}

#[test]
fn recordings_and_worlds_in_one_encoder_do_not_interfere() -> Result {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let options = BufferOptions::new(2000);
    let mut worlds = [
        pipeline.create_buffers(&options)?,
        pipeline.create_buffers(&options)?,
    ];
    let mut encoder = device.encoder();
    let mut tickets = Vec::new();
    for step in 0..4_u16 {
        for (k, buffers) in worlds.iter_mut().enumerate() {
            let spheres = gas(500 + 300 * usize::from(step) + 50 * k, k as u64);
            let dt = 0.25 * f32::from(step + 1);
            // A step that carom refuses to record must have no effect on the encoder or on carom's buffers.
            let failed = buffers.record(&mut encoder, &Step::new(&spheres[..10], -9.0));
            assert!(matches!(
                failed,
                Err(Error::InvalidTimeStep { dt: -9.0, .. })
            ));
            if step % 2 == 0 {
                buffers.record(&mut encoder, &Step::new(&spheres, dt))?;
            } else {
                let source = Interleaved::new(&device, &spheres);
                buffers.record(&mut encoder, &Step::on_device(source.spheres(), dt))?;
            }
            tickets.push((buffers.read_exact(&mut encoder)?, truth(&spheres, dt)));
        }
    }
    device.queue.submit([encoder.finish()]);
    device.wait();
    for (mut ticket, expected) in tickets {
        assert_eq!(ready(ticket.try_take()).collisions.pairs, expected);
    }
    device.assert_silent();
    Ok(())
}

#[test]
fn each_overflow_is_reported_and_growing_cures_it() -> Result {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let options = BufferOptions::new(100).with_pairs(10).with_segments(10);
    let mut buffers = pipeline.create_buffers(&options)?;
    let spheres = gas(3000, 4);
    let expected = truth(&spheres, 1.0);
    assert!(matches!(
        buffers.record(&mut device.encoder(), &Step::new(&spheres, 1.0)),
        Err(Error::OverCapacity {
            needed: 3000,
            capacity: 100,
            ..
        })
    ));
    let source = Interleaved::new(&device, &spheres);
    let count = device.words(&[3000]);
    let mut seen = Vec::new();
    let found = loop {
        if seen.len() > 10 {
            panic!("the buffers are still too small after these steps: {seen:?}");
        }
        let most = buffers.capacity().spheres.min(3000) as u32;
        let counted = source.first(most).with_count_in(&count, 0);
        let mut encoder = device.encoder();
        buffers.record(&mut encoder, &Step::on_device(counted, 1.0))?;
        let mut counts = buffers.read_summary(&mut encoder)?;
        let mut raw = buffers.read_raw(&mut encoder)?;
        let mut exact = buffers.read_exact(&mut encoder)?;
        device.queue.submit([encoder.finish()]);
        device.wait();
        let counts = ready(counts.try_take());
        match (raw.try_take(), exact.try_take()) {
            (
                Err(Error::Truncated {
                    required: needed, ..
                }),
                Err(Error::Truncated { .. }),
            ) => {
                assert_eq!(counts.required_capacity(), Some(needed));
                assert!(!counts.is_complete());
                seen.push(counts.status);
                buffers.grow(&needed)?;
            }
            (Ok(Some(raw)), Ok(Some(exact))) => {
                assert!(counts.is_complete());
                assert!(raw.pairs().len() >= exact.collisions.pairs.len());
                break exact;
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(found.collisions.pairs, expected);
    // Three capacities overflow in successive steps: for spheres, then for time segments, then for pairs.
    assert_eq!(
        seen,
        [
            Status::TOO_MANY_SPHERES,
            Status::TOO_MANY_SEGMENTS,
            Status::TRUNCATED
        ]
    );
    device.assert_silent();
    Ok(())
}

#[test]
fn a_crowd_past_the_candidate_limit_is_refused_and_the_next_step_works() -> Result {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let options = BufferOptions::new(2000).with_max_candidates(100_000);
    let mut buffers = pipeline.create_buffers(&options)?;
    let crowd = vec![Sphere::new([0.0; 3], 1.0); 2000];
    let mut encoder = device.encoder();
    buffers.record(&mut encoder, &Step::new(&crowd, 1.0))?;
    let mut ticket = buffers.read_exact(&mut encoder)?;
    device.queue.submit([encoder.finish()]);
    device.wait();
    let error = ticket.try_take().err();
    assert!(
        matches!(
            error,
            Some(Error::TooManyCandidates {
                needed: 1_999_000,
                limit: 100_000,
                ..
            })
        ),
        "{error:?}"
    );
    let spheres = gas(1000, 6);
    let found = exact(&device, &mut buffers, &Step::new(&spheres, 1.0));
    assert_eq!(found.collisions.pairs, truth(&spheres, 1.0));
    Ok(())
}

#[test]
fn invalid_spheres_are_set_aside_and_named() -> Result {
    let device = Device::real();
    let mut buffers = world(&device, 3000)?;
    let mut spheres = gas(3000, 7);
    type Spoil = fn(&mut Sphere);
    let wrong: [(usize, Spoil); 8] = [
        (0, |s| s.center[0] = f32::NAN),
        (10, |s| s.center[2] = f32::INFINITY),
        (500, |s| s.radius = -1.0),
        (501, |s| s.radius = f32::NAN),
        (502, |s| s.radius = 1e30),
        (900, |s| s.velocity[1] = -f32::INFINITY),
        (901, |s| s.velocity[1] = 1e19),
        (2999, |s| s.velocity[0] = 1e18), // In a step of length 2, the displacement exceeds 2⁶⁰.
    ];
    let mut valid = spheres.clone();
    for (i, spoil) in wrong {
        spoil(&mut spheres[i]);
        // carom skips invalid spheres. Brute force gets a far-away point in place of each, which
        // touches nothing.
        valid[i] = Sphere::new([1e9 + 1e6 * i as f32, 0.0, 0.0], 0.0);
    }
    spheres[77].radius = -0.0;
    valid[77].radius = 0.0;
    let source = Interleaved::new(&device, &spheres);
    let found = exact(
        &device,
        &mut buffers,
        &Step::on_device(source.spheres(), 2.0),
    );
    assert_eq!(found.collisions.pairs, truth(&valid, 2.0));
    let mut named = found.summary.invalid_spheres.clone();
    named.sort_unstable();
    assert_eq!(named, wrong.map(|(i, _)| i as u32));
    assert_eq!(
        (found.summary.invalid, found.summary.status),
        (8, Status::INVALID_SPHERES)
    );

    let none = Interleaved::new(&device, &vec![Sphere::new([f32::NAN; 3], 1.0); 3000]);
    let found = exact(&device, &mut buffers, &Step::on_device(none.spheres(), 1.0));
    assert_eq!(
        (found.collisions.pairs.len(), found.summary.invalid),
        (0, 3000)
    );
    assert_eq!(found.summary.invalid_spheres.len(), 32);
    let found = exact(&device, &mut buffers, &Step::new(&valid, 2.0));
    assert_eq!(found.collisions.pairs, truth(&valid, 2.0));
    device.assert_silent();
    Ok(())
}

#[test]
fn worlds_in_any_unit_are_scaled_on_the_device() -> Result {
    let device = Device::real();
    let mut buffers = world(&device, 3000)?;
    let spheres = gas(3000, 8);
    for (length, time) in [
        (-100, 0),
        // If all lengths are multiplied by 2⁻¹²⁶, the radii become subnormal, but most coordinates
        // do not.
        (-126, 0),
        (-140, 0),
        (-20, -30),
        (40, 20),
        (-60, 50),
        (-60, -100),
        (-80, -60),
    ] {
        let [length, time]: [f64; 2] = [length, time].map(|power: i32| f64::from(power).exp2());
        let scaled: Vec<Sphere> = spheres
            .iter()
            .map(|s| Sphere {
                center: s.center.map(|x| (f64::from(x) * length) as f32),
                radius: (f64::from(s.radius) * length) as f32,
                velocity: s.velocity.map(|v| (f64::from(v) * length / time) as f32),
                ..*s
            })
            .collect();
        let dt = time as f32;
        let source = Interleaved::new(&device, &scaled);
        let found = exact(
            &device,
            &mut buffers,
            &Step::on_device(source.spheres(), dt),
        );
        let what = format!("length {length:e}, time {time:e}");
        assert_eq!(found.collisions.pairs, truth(&scaled, dt), "{what}");
        // If the numbers of a world are so small that subnormal numbers lose digits, carom may test
        // more pairs than in the same world with ordinary numbers, but not four times as many.
        let most = 4 * exact(&device, &mut buffers, &Step::new(&spheres, 1.0))
            .summary
            .candidates;
        assert!(
            found.summary.candidates < most,
            "{what}: {:?}",
            found.summary
        );
    }
    // With a time step of 0, velocities of any magnitude have no effect.
    let source = Interleaved::new(&device, &spheres);
    let found = exact(
        &device,
        &mut buffers,
        &Step::on_device(source.spheres(), 0.0),
    );
    assert_eq!(found.collisions.pairs, truth(&spheres, 0.0));
    Ok(())
}

/// Returns three lengths for two spheres: the gap between their surfaces at time `t`, the distance of their
/// centres at the start, and the sum of their radii.
fn gap(a: &Sphere, b: &Sphere, t: f32) -> [f64; 3] {
    let of =
        |from: &[f32; 3], to: &[f32; 3]| [0, 1, 2].map(|k| f64::from(to[k]) - f64::from(from[k]));
    let p = of(&a.center, &b.center);
    let v = of(&a.velocity, &b.velocity);
    let length = |q: [f64; 3]| q.iter().map(|x| x * x).sum::<f64>().sqrt();
    let reach = f64::from(a.radius) + f64::from(b.radius);
    let then = length([0, 1, 2].map(|k| p[k] + v[k] * f64::from(t)));
    [then - reach, length(p), reach]
}

/// Returns spheres in a plane, so near to it that their relative positions have too many digits for the device, which
/// therefore leaves all pairs open.
fn too_many_digits(seed: u64) -> Vec<Sphere> {
    let mut rng = Rng::with_seed(seed);
    let place = |rng: &mut Rng, size: f32| [rng.f32() * size, rng.f32() * size, rng.f32() * 1e-20];
    let mut sphere = || {
        let center = place(&mut rng, 60.0);
        Sphere::new(center, 0.2).with_velocity(place(&mut rng, 1.0))
    };
    (0..5000).map(|_| sphere()).collect()
}

#[test]
fn lists_on_the_device_are_exact_and_estimates_as_accurate_as_documented() -> Result {
    let device = Device::real();
    let mut buffers = world(&device, 20_000)?;
    let mut worst = 0.0_f64;
    let scenes = (0..).zip(Scene::ALL);
    let scenes = scenes.map(|(seed, scene)| (scene.to_string(), scene.generate(10_000, seed)));
    let mut worlds: Vec<_> = scenes.collect();
    worlds.push(("too many digits".to_owned(), too_many_digits(1)));
    let (mut listed, mut grazing) = (0, 0);
    for (scene, spheres) in worlds {
        let exact = exact(&device, &mut buffers, &Step::new(&spheres, 1.0));
        let expected = truth(&spheres, 1.0);
        assert_eq!(exact.collisions.pairs, expected, "{scene}");
        let mut undecided = 0;
        let mut certain = Vec::new();
        let mut encoder = device.encoder();
        buffers.record(&mut encoder, &Step::new(&spheres, 1.0))?;
        let ticket = buffers.read_raw(&mut encoder)?;
        let raw = ready(device.finish(encoder, ticket));
        for (k, pair) in raw.pairs().iter().enumerate() {
            let [a, b] = [pair.a, pair.b].map(|i| &spheres[i as usize]);
            if raw.is_grazing(k) {
                undecided += 1;
            } else {
                let times = [pair.toi, pair.depth].map(f32::to_bits);
                certain.push((pair.a, pair.b, times));
            }
            let [gap, distance, reach] = gap(a, b, pair.toi);
            let off = if pair.toi > 0.0 {
                assert_eq!(pair.depth, 0.0);
                gap.abs()
            } else {
                (gap + f64::from(pair.depth)).abs()
            };
            worst = worst.max(off / (distance + reach));
        }
        // The device lists each pair that it has decided once, with the exact time and depth.
        certain.sort_unstable();
        let mut touching = expected.iter().map(|pair| {
            let times = [pair.toi, pair.depth].map(f32::to_bits);
            (pair.a, pair.b, times)
        });
        for pair in &certain {
            assert!(
                touching.any(|expected| expected == *pair),
                "{scene}: {pair:?}"
            );
        }
        assert_eq!(raw.summary().grazing, undecided, "{scene}");
        println!(
            "{scene}: {undecided} of {} pairs are grazing",
            raw.pairs().len()
        );
        if scene == "too many digits" {
            assert!(certain.is_empty() && undecided > 1000, "{undecided}");
        } else {
            listed += certain.len() as u64;
            grazing += undecided;
        }
    }
    assert!(listed > 100_000, "{listed}");
    assert!(
        grazing <= listed / 100_000,
        "{grazing} of {listed} pairs are grazing"
    );
    println!("largest relative error: 2^{:.1}", worst.log2());
    assert!(
        worst < (-19_f64).exp2(),
        "largest relative error: 2^{:.1}",
        worst.log2()
    );
    Ok(())
}

#[test]
fn tickets_and_encoders_may_be_dropped_at_any_time() -> Result {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let mut buffers = pipeline.create_buffers(&BufferOptions::new(1000).with_recordings(2))?;
    let spheres = gas(1000, 9);
    let expected = truth(&spheres, 1.0);
    for round in 0..20 {
        let mut encoder = device.encoder();
        buffers.record(&mut encoder, &Step::new(&spheres, 1.0))?;
        let mut ticket = buffers.read_exact(&mut encoder)?;
        match round % 4 {
            0 => {
                drop(encoder);
                assert!(matches!(ticket.try_take(), Err(Error::NotSubmitted)));
            }
            1 => {
                drop(ticket);
                drop(encoder);
            }
            2 => {
                drop(ticket);
                device.queue.submit([encoder.finish()]);
                device.wait();
            }
            _ => {
                device.queue.submit([encoder.finish()]);
                device.wait();
                drop(ticket);
            }
        }
        let found = exact(&device, &mut buffers, &Step::new(&spheres, 1.0));
        assert_eq!(found.collisions.pairs, expected);
    }
    // A readback in flight must succeed even if the buffers of its step are dropped.
    let mut encoder = device.encoder();
    buffers.record(&mut encoder, &Step::new(&spheres, 1.0))?;
    let ticket = buffers.read_exact(&mut encoder)?;
    drop((buffers, pipeline));
    assert_eq!(
        ready(device.finish(encoder, ticket)).collisions.pairs,
        expected
    );
    device.assert_silent();
    Ok(())
}

#[test]
fn stages_are_timed_on_request() -> Result {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let period = device.queue.get_timestamp_period();
    let options = BufferOptions::new(5000).with_timestamp_period(period);
    let mut buffers = pipeline.create_buffers(&options)?;
    let source = Interleaved::new(&device, &gas(5000, 10));
    let found = exact(
        &device,
        &mut buffers,
        &Step::on_device(source.spheres(), 1.0),
    );
    let names: Vec<_> = found.summary.stages.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        ["load", "measure", "plan", "bin", "scan", "scatter", "pairs"]
    );
    let all: std::time::Duration = found.summary.stages.iter().map(|(_, time)| *time).sum();
    assert!(!all.is_zero());
    Ok(())
}

#[test]
fn a_world_dropped_in_flight_does_not_affect_other_worlds() -> Result {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let spheres = gas(500, 11);
    let mut stays = pipeline.create_buffers(&BufferOptions::new(500))?;
    for waits in [false, true] {
        let mut goes = pipeline.create_buffers(&BufferOptions::new(500))?;
        let mut encoder = device.encoder();
        goes.record(&mut encoder, &Step::new(&spheres, 1.0))?;
        let ticket = goes.read_exact(&mut encoder)?;
        if waits {
            device.queue.submit([encoder.finish()]);
            drop((goes, ticket));
        } else {
            drop((goes, ticket));
            device.queue.submit([encoder.finish()]);
        }
        device.wait();
        let found = exact(&device, &mut stays, &Step::new(&spheres, 1.0));
        assert_eq!(found.collisions.pairs, truth(&spheres, 1.0));
    }
    device.assert_silent();
    Ok(())
}

#[test]
fn an_invalid_timestamp_period_disables_timing() -> Result {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let spheres = gas(500, 12);
    for period in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let options = BufferOptions::new(500).with_timestamp_period(period);
        let mut buffers = pipeline.create_buffers(&options)?;
        let found = exact(&device, &mut buffers, &Step::new(&spheres, 1.0));
        assert_eq!(found.collisions.pairs, truth(&spheres, 1.0));
        assert!(found.summary.stages.is_empty());
    }
    Ok(())
}

#[test]
fn more_pairs_than_can_be_read_back_are_an_error() -> Result {
    let device = Device::with_limits(wgpu::Limits {
        max_storage_buffer_binding_size: 1 << 20,
        max_buffer_size: 1 << 20,
        ..wgpu::Limits::default()
    });
    let pipeline = CollisionPipeline::new(&device.device)?;
    let mut buffers = pipeline.create_buffers(&BufferOptions::new(300).with_pairs(1 << 16))?;
    // The lists of pairs and of grazing pairs may each take half of a readback. A pair takes 16 bytes, and a grazing
    // pair 64 more.
    let cases = [(210, 0.0, true), (300, 0.0, false), (100, 0.0, true)];
    for (count, apart, fits) in cases
        .into_iter()
        .chain([(150, 1e-20, false), (100, 1e-20, true)])
    {
        // If the spheres are so little apart, their relative positions have too many digits for the device.
        let crowd = (0..count).map(|k| Sphere::new([0.0, 0.0, apart * k as f32], 1.0));
        let crowd: Vec<Sphere> = crowd.collect();
        let mut encoder = device.encoder();
        buffers.record(&mut encoder, &Step::new(&crowd, 1.0))?;
        let mut raw = buffers.read_raw(&mut encoder)?;
        let mut exact = buffers.read_exact(&mut encoder)?;
        device.queue.submit([encoder.finish()]);
        device.wait();
        let pairs = count * (count - 1) / 2;
        assert_eq!(ready(raw.try_take()).pairs().len(), pairs);
        match exact.try_take() {
            Ok(Some(taken)) if fits => {
                assert_eq!(taken.collisions.pairs, truth(&crowd, 1.0));
            }
            Err(Error::DeviceLimit { needed, .. }) if !fits => {
                assert_eq!(needed, if apart > 0.0 { 64 } else { 16 } * pairs as u64);
            }
            Ok(_) => panic!("{count}: not refused"),
            Err(error) => panic!("{count}: {error}"),
        }
    }
    device.assert_silent();
    Ok(())
}

/// A readback has room for as many grazing pairs as the one before needed.
#[test]
fn the_next_readback_has_room_for_all_grazing_pairs() -> Result {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let mut buffers = pipeline.create_buffers(&BufferOptions::new(200).with_pairs(1 << 16))?;
    let crowd = (0..200).map(|k| Sphere::new([0.0, 0.0, 1e-20 * k as f32], 1.0));
    let crowd: Vec<Sphere> = crowd.collect();
    for is_first in [true, false] {
        let mut encoder = device.encoder();
        buffers.record(&mut encoder, &Step::new(&crowd, 1.0))?;
        let exact = buffers.read_exact(&mut encoder)?;
        match device.finish(encoder, exact) {
            Err(Error::Truncated { required, .. }) => {
                assert!(is_first && required.pairs == 19_900);
                assert!(!buffers.grow(&required)?);
            }
            found => {
                let found = ready(found);
                assert!(!is_first && found.summary.grazing == 19_900);
                assert_eq!(found.collisions.pairs, truth(&crowd, 1.0));
            }
        }
    }
    Ok(())
}

#[test]
fn changes_survive_growth_and_dropped_encoders() -> Result {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let options = BufferOptions::new(500).with_pairs(300).with_changes();
    let mut buffers = pipeline.create_buffers(&options)?;
    // Returns a row of 400 spheres whose centres are 1 apart. The first 200 spheres have radius
    // 0.5, so neighbours among them touch. The radius of the other 200 is `reach`, which decides
    // how many of them touch.
    let apart = |reach: f32| -> Vec<Sphere> {
        (0..400)
            .map(|i| Sphere::new([i as f32, 0.0, 0.0], if i < 200 { 0.5 } else { reach }))
            .collect()
    };
    let few = apart(0.25);
    let many = apart(1.5);
    let step = |buffers: &mut CollisionBuffers, spheres: &[Sphere]| {
        let mut encoder = device.encoder();
        buffers.record(&mut encoder, &Step::new(spheres, 1.0))?;
        let ticket = buffers.read_summary(&mut encoder)?;
        Result::Ok(ready(device.finish(encoder, ticket)))
    };
    let first = step(&mut buffers, &few)?;
    assert_eq!([first.began, first.lasted, first.ended], [199, 0, 0]);
    let truncated = step(&mut buffers, &many)?;
    assert_eq!([truncated.began, truncated.lasted, truncated.ended], [0; 3]);
    match truncated.required_capacity() {
        Some(needed) => assert!(buffers.grow(&needed)?),
        None => panic!("{truncated:?}"),
    }
    for _ in 0..2 {
        let mut encoder = device.encoder();
        buffers.record(&mut encoder, &Step::new(&many, 1.0))?;
        drop(encoder);
    }
    let again = step(&mut buffers, &few)?;
    assert_eq!([again.began, again.lasted, again.ended], [0, 199, 0]);
    let grown = step(&mut buffers, &many)?;
    assert!(grown.began > 300 && grown.lasted == 199 && grown.ended == 0);
    Ok(())
}

#[test]
fn the_error_of_a_count_above_the_largest_permitted_one_names_it() -> Result {
    let device = Device::real();
    let mut buffers = world(&device, 1000)?;
    let spheres = gas(500, 13);
    let source = Interleaved::new(&device, &spheres);
    let count = device.words(&[500]);
    let counted = source.first(400).with_count_in(&count, 0);
    let mut encoder = device.encoder();
    buffers.record(&mut encoder, &Step::on_device(counted, 1.0))?;
    let mut ticket = buffers.read_exact(&mut encoder)?;
    device.queue.submit([encoder.finish()]);
    device.wait();
    let error = ticket.try_take().err().map(|error| error.to_string());
    let told = error.unwrap_or_default();
    assert!(
        told.contains("500 spheres") && told.contains("largest permitted"),
        "{told}"
    );
    Ok(())
}

#[test]
fn a_recording_that_fails_leaves_no_trace() -> Result {
    let device = Device::real();
    // A failed recording must not keep the only upload buffer. Otherwise, the next recording would
    // fail too.
    let options = BufferOptions::new(600).with_recordings(1);
    let mut buffers = CollisionPipeline::new(&device.device)?.create_buffers(&options)?;
    let spheres = gas(500, 14);
    let expected = truth(&spheres, 1.0);
    let many = gas(700, 15);
    let mut wrong = gas(500, 16);
    wrong[3].radius = -1.0;
    let [few_on_device, many_on_device] =
        [&spheres, &many].map(|set| Interleaved::new(&device, set));
    let too_long = few_on_device.first(501);
    let fail = |buffers: &mut CollisionBuffers, encoder: &mut wgpu::CommandEncoder| {
        let on_host = [
            Step::new(&spheres, f32::NAN),
            Step::new(&wrong, 1.0),
            Step::between(&spheres, &wrong, 1.0),
            Step::new(&many, 1.0),
        ];
        for step in &on_host {
            assert!(buffers.record(encoder, step).is_err());
        }
        for spheres in [many_on_device.spheres(), too_long] {
            let step = Step::on_device(spheres, 1.0);
            assert!(buffers.record(encoder, &step).is_err());
        }
    };
    let mut serial = None;
    let mut before: Option<Vec<u32>> = None;
    for round in 0..4 {
        let mut encoder = device.encoder();
        fail(&mut buffers, &mut encoder);
        buffers.record(&mut encoder, &Step::new(&spheres, 1.0))?;
        fail(&mut buffers, &mut encoder);
        // A readback after failed recordings must return the step that was recorded successfully.
        let ticket = buffers.read_exact(&mut encoder)?;
        let found = ready(device.finish(encoder, ticket));
        assert_eq!(found.collisions.pairs, expected);

        // Each successful recording gets the next serial number. Two recordings of the same step
        // must have the same results except for this number.
        let results = device.read(buffers.results());
        if let Some(before) = before {
            let differ: Vec<usize> = (0..results.len())
                .filter(|&word| results[word] != before[word])
                .collect();
            assert_eq!(differ.len(), 1, "round {round}: {differ:?}");
            assert!(serial.is_none_or(|serial| differ[0] == serial));
            serial = Some(differ[0]);
            assert_eq!(results[differ[0]], before[differ[0]] + 1);
        }
        // The commands of an encoder into which only failed recordings were made must not change carom's
        // results buffer.
        let mut encoder = device.encoder();
        fail(&mut buffers, &mut encoder);
        device.queue.submit([encoder.finish()]);
        device.wait();
        assert_eq!(device.read(buffers.results()), results);
        before = Some(results);
    }
    device.assert_silent();
    Ok(())
}

#[test]
fn async_calls_give_the_same_results_as_blocking_ones() -> Result {
    let device = Device::real();
    let spheres = gas(500, 17);
    let options = BufferOptions::new(500).with_sorted();
    let mut buffers = pollster::block_on(async {
        let pipeline = CollisionPipeline::new_async(&device.device).await?;
        let simulation = SimulationBufferOptions::new(10);
        let mut simulation = pipeline.create_simulation_async(&simulation).await?;
        assert_eq!(
            simulation.read_state(&mut device.encoder()).err(),
            Some(Error::NothingRecorded)
        );
        pipeline.create_buffers_async(&options).await
    })?;
    let had = buffers.capacity();
    assert_eq!(pollster::block_on(buffers.grow_async(&had)), Ok(false));
    assert_eq!(buffers.capacity(), had);
    let mut more = had;
    more.pairs += 1;
    assert_eq!(pollster::block_on(buffers.grow_async(&more)), Ok(true));
    assert!(buffers.capacity().pairs > had.pairs);
    let mut encoder = device.encoder();
    buffers.record(&mut encoder, &Step::new(&spheres, 1.0))?;
    let mut ticket = buffers.read_exact(&mut encoder)?;
    assert!(matches!(ticket.try_take(), Ok(None)));
    // One thread waits for the readback while another thread submits the step and polls the device.
    let taken = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| pollster::block_on(ticket.take()));
        device.queue.submit([encoder.finish()]);
        device.wait();
        waiting.join()
    });
    match taken {
        Ok(step) => assert_eq!(step?.collisions.pairs, truth(&spheres, 1.0)),
        Err(_) => panic!("the waiting thread panicked"),
    }
    // The encoder of a step is dropped. Then waiting for the readback of this step must end, with an error.
    let mut encoder = device.encoder();
    buffers.record(&mut encoder, &Step::new(&spheres, 1.0))?;
    let ticket = buffers.read_summary(&mut encoder)?;
    drop(encoder);
    assert_eq!(
        pollster::block_on(ticket.take()).err(),
        Some(Error::NotSubmitted)
    );
    device.assert_silent();
    Ok(())
}

#[test]
fn a_capacity_of_zero_pairs_truncates_the_list_until_it_grows() -> Result {
    let device = Device::real();
    let options = BufferOptions::new(500).with_pairs(0);
    let mut buffers = CollisionPipeline::new(&device.device)?.create_buffers(&options)?;
    let spheres = vec![Sphere::new([0.0; 3], 1.0); 3];
    let step = Step::new(&spheres, 1.0);
    let mut encoder = device.encoder();
    buffers.record(&mut encoder, &step)?;
    let ticket = buffers.read_exact(&mut encoder)?;
    let list = device.finish(encoder, ticket);
    assert!(
        matches!(&list, Err(Error::Truncated { required, .. }) if required.pairs == 3),
        "{list:?}"
    );
    let found = exact(&device, &mut buffers, &step);
    assert_eq!(found.collisions.pairs, truth(&spheres, 1.0));
    device.assert_silent();
    Ok(())
}

#[test]
fn a_capacity_beyond_any_device_is_refused_and_changes_nothing() -> Result {
    let device = Device::real();
    let mut buffers = world(&device, 500)?;
    let mut required = Capacity::for_spheres(1);
    for pairs in [1 << 60, u64::MAX] {
        required.pairs = pairs;
        let refused = buffers.grow(&required);
        assert!(
            matches!(refused, Err(Error::DeviceLimit { needed, .. }) if needed >= 1 << 60),
            "{refused:?}"
        );
    }
    let spheres = gas(400, 1);
    let found = exact(&device, &mut buffers, &Step::new(&spheres, 1.0));
    assert_eq!(found.collisions.pairs, truth(&spheres, 1.0));
    device.assert_silent();
    Ok(())
}

/// A step fails if the count in a device buffer says that there are more spheres than the caller
/// permits. carom's own buffers are not too small in this case, so the summary of the step
/// must not request larger ones.
#[test]
fn a_count_above_the_largest_permitted_one_requires_no_capacity() -> Result {
    let device = Device::real();
    let mut buffers = world(&device, 500)?;
    let source = Interleaved::new(&device, &gas(10, 1));
    let count = device.words(&[5]);
    let spheres = source.first(4).with_count_in(&count, 0);
    let mut encoder = device.encoder();
    buffers.record(&mut encoder, &Step::on_device(spheres, 1.0))?;
    let mut list = buffers.read_exact(&mut encoder)?;
    let ticket = buffers.read_summary(&mut encoder)?;
    let summary = ready(device.finish(encoder, ticket));
    assert_eq!(summary.status, Status::TOO_MANY_SPHERES);
    assert_eq!(summary.required_capacity(), None);
    let error = list.try_take().err().map(|error| error.to_string());
    assert!(
        error
            .as_ref()
            .is_some_and(|told| told.contains("largest permitted")),
        "{error:?}"
    );
    device.assert_silent();
    Ok(())
}

#[test]
fn a_step_of_minus_zero_has_times_of_zero() -> Result {
    let device = Device::real();
    let mut buffers = world(&device, 10)?;
    let source = Interleaved::new(&device, &[Sphere::new([0.0; 3], 1.0); 2]);
    let at = |offset| Attribute::new(&source.buffer, offset, 32);
    let spheres = DeviceSpheres::new(2, at(0), at(12)).with_previous_center(at(0));
    let found = exact(&device, &mut buffers, &Step::on_device(spheres, -0.0));
    let times: Vec<u32> = found
        .collisions
        .pairs
        .iter()
        .map(|pair| pair.toi.to_bits())
        .collect();
    assert_eq!(times, [0]);
    device.assert_silent();
    Ok(())
}
