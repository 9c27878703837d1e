//! carom recorded into an application's encoder gives what the detector gives, from buffers in any
//! layout, however steps, submits and readbacks interleave.

#![allow(
    clippy::cast_possible_truncation,
    reason = "counts of some thousands, and float32 on purpose"
)]

#[path = "../examples/scenes/mod.rs"]
mod scenes;

mod backends;
mod device;

use backends::detector;
use carom::gpu::{
    BufferOptions, CollisionBuffers, CollisionPipeline, Count, DeviceSpheres, Groups, Motion,
    Radius, Source, Taken, Words, status, wgpu,
};
use carom::{Backend, Collision, Error, Options, Sphere, Step, time_of_impact};
use device::{Device, Interleaved, exact, ready};
use fastrand::Rng;
use scenes::Scene;

type Result<T = ()> = std::result::Result<T, Error>;

/// What the CPU finds.
fn truth(spheres: &[Sphere], dt: f32) -> Vec<Collision> {
    match detector(Backend::Cpu, Options::default()).detect(&Step::new(spheres, dt)) {
        Ok(found) => found.pairs,
        Err(error) => panic!("{error}"),
    }
}

fn truth_between(first: &[Sphere], second: &[Sphere], dt: f32) -> Vec<Collision> {
    match detector(Backend::Cpu, Options::default()).detect(&Step::between(first, second, dt)) {
        Ok(found) => found.pairs,
        Err(error) => panic!("{error}"),
    }
}

fn world(device: &Device, spheres: u32) -> Result<CollisionBuffers> {
    CollisionPipeline::new(&device.device)?.create_buffers(&BufferOptions::new(spheres))
}

/// A gas with bullets, some of which ignore one another.
fn gas(count: usize, seed: u64) -> Vec<Sphere> {
    let mut spheres = Scene::Fast.generate(count, seed);
    for (i, sphere) in spheres.iter_mut().enumerate() {
        sphere.groups = if i % 3 == 0 { 1 | 1 << 16 } else { 0 };
    }
    spheres
}

/// Words of spheres in a layout: where each sphere's begin, and a function that puts them.
fn laid_out(
    spheres: &[Sphere],
    offset: usize,
    stride: usize,
    put: fn(&Sphere) -> Vec<u32>,
) -> Vec<u32> {
    // Noise where nothing is to be read.
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
fn any_layout_of_the_callers_buffers_gives_the_list_of_the_detector() -> Result {
    let device = Device::real();
    let spheres = gas(3000, 1);
    let mut buffers = world(&device, 4000)?;
    let count = 3000;
    let expected = truth(&spheres, 0.5);
    assert!(expected.len() > 300);

    let one = Interleaved::new(&device, &spheres);
    let found = exact(&device, &mut buffers, Source::Buffers(&one.spheres()), 0.5);
    assert_eq!(found.collisions.pairs, expected);
    assert_eq!(found.counts.spheres, 3000);
    let found = exact(&device, &mut buffers, Source::Host(&spheres), 0.5);
    assert_eq!(found.collisions.pairs, expected);

    // Each in a buffer of its own, far into it, with gaps.
    let centers = device.words(&laid_out(&spheres, 77, 5, |s| bits(s.center)));
    let radii = device.words(&laid_out(&spheres, 1, 1, |s| bits([s.radius])));
    let velocities = device.words(&laid_out(&spheres, 1000, 3, |s| bits(s.velocity)));
    let groups = device.words(&laid_out(&spheres, 0, 2, |s| vec![s.groups]));
    let counts = device.words(&[9, 9, 9, count]);
    let at = |buffer, offset, stride| Words {
        buffer,
        offset,
        stride,
    };
    let apart = DeviceSpheres {
        count: Count::Word {
            buffer: &counts,
            offset: 3,
            at_most: count,
        },
        center: at(&centers, 77, 5),
        radius: Radius::Words(at(&radii, 1, 1)),
        motion: Motion::Velocity(at(&velocities, 1000, 3)),
        groups: Groups::Words(at(&groups, 0, 2)),
    };
    let found = exact(&device, &mut buffers, Source::Buffers(&apart), 0.5);
    assert_eq!(found.collisions.pairs, expected);

    // One radius, one group and no motion for all.
    let alike: Vec<Sphere> = spheres.iter().map(|s| Sphere::new(s.center, 0.7)).collect();
    let still = DeviceSpheres {
        radius: Radius::Constant(0.7),
        motion: Motion::Still,
        groups: Groups::Constant(1),
        ..apart
    };
    let found = exact(&device, &mut buffers, Source::Buffers(&still), 0.5);
    assert_eq!(found.collisions.pairs, truth(&alike, 0.5));
    device.assert_silent();
    Ok(())
}

#[test]
fn previous_centers_give_the_motion_between_the_two() -> Result {
    let device = Device::real();
    let mut buffers = world(&device, 4000)?;
    // Steps that float32 has exactly: the list is then that of velocities.
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
    let source = DeviceSpheres {
        count: Count::Known(3000),
        center: Words {
            buffer: &centers,
            offset: 0,
            stride: 3,
        },
        radius: Radius::Constant(0.4),
        motion: Motion::Previous(Words {
            buffer: &previous,
            offset: 2,
            stride: 4,
        }),
        groups: Groups::Constant(0),
    };
    let mut expected = truth(&spheres, 1.0);
    for pair in &mut expected {
        pair.toi *= 0.125;
    }
    let found = exact(&device, &mut buffers, Source::Buffers(&source), 0.125);
    assert!(expected.len() > 300);
    assert_eq!(found.collisions.pairs, expected);
    device.assert_silent();
    Ok(())
}

#[test]
fn one_set_against_another_from_buffers_and_from_the_host() -> Result {
    let device = Device::real();
    let mut buffers = world(&device, 4000)?;
    let (first, second) = (gas(1000, 2), gas(2500, 3));
    let expected = truth_between(&first, &second, 1.0);
    assert!(expected.len() > 100);
    let [one, other] = [&first, &second].map(|set| Interleaved::new(&device, set));
    let (one, other) = (one.spheres(), other.spheres());
    for source in [
        Source::BuffersBetween(&one, &other),
        Source::HostBetween(&first, &second),
    ] {
        let found = exact(&device, &mut buffers, source, 1.0);
        assert_eq!(found.collisions.pairs, expected);
        assert_eq!((found.counts.spheres, found.counts.first_set), (3500, 1000));
    }
    // With an empty set there is nothing to be found, told by the host or by the device.
    let none = device.words(&[0]);
    let empty = DeviceSpheres {
        count: Count::Known(0),
        ..one
    };
    let counted = DeviceSpheres {
        count: Count::Word {
            buffer: &none,
            offset: 0,
            at_most: 1000,
        },
        ..one
    };
    for source in [
        Source::BuffersBetween(&empty, &other),
        Source::BuffersBetween(&counted, &other),
        Source::BuffersBetween(&other, &empty),
        Source::BuffersBetween(&other, &counted),
        Source::HostBetween(&[], &second),
        Source::HostBetween(&first, &[]),
        Source::Buffers(&empty),
        Source::Buffers(&counted),
        Source::Host(&[]),
    ] {
        let found = exact(&device, &mut buffers, source, 1.0);
        assert_eq!((found.collisions.pairs.len(), found.counts.status), (0, 0));
    }
    device.assert_silent();
    Ok(())
}

#[test]
fn recordings_before_one_submit_and_worlds_in_one_encoder_keep_to_themselves() -> Result {
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
            if step % 2 == 0 {
                buffers.prepare(Source::Host(&spheres), dt)?;
            } else {
                let source = Interleaved::new(&device, &spheres);
                // What is prepared last counts.
                buffers.prepare(Source::Host(&spheres[..10]), 9.0)?;
                buffers.prepare(Source::Buffers(&source.spheres()), dt)?;
            }
            buffers.record(&mut encoder)?;
            tickets.push((buffers.read_exact(&mut encoder)?, truth(&spheres, dt)));
        }
    }
    device.queue.submit([encoder.finish()]);
    device.wait();
    for (ticket, expected) in tickets {
        assert_eq!(ready(ticket.try_take()?).collisions.pairs, expected);
    }
    device.assert_silent();
    Ok(())
}

#[test]
fn what_does_not_fit_is_told_and_grown_for() -> Result {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let mut buffers = pipeline.create_buffers(&BufferOptions {
        pairs: 10,
        segments: 10,
        ..BufferOptions::new(100)
    })?;
    let spheres = gas(3000, 4);
    let expected = truth(&spheres, 1.0);
    assert!(matches!(
        buffers.prepare(Source::Host(&spheres), 1.0),
        Err(Error::OverCapacity {
            needed: 3000,
            capacity: 100
        })
    ));
    let source = Interleaved::new(&device, &spheres);
    let count = device.words(&[3000]);
    let mut counted = source.spheres();
    counted.count = Count::Word {
        buffer: &count,
        offset: 0,
        at_most: 100,
    };
    let mut seen = Vec::new();
    let found = loop {
        if seen.len() > 10 {
            panic!("does not grow enough: {seen:?}");
        }
        counted.count = Count::Word {
            buffer: &count,
            offset: 0,
            at_most: buffers.options().spheres.min(3000),
        };
        let mut encoder = device.encoder();
        buffers.prepare(Source::Buffers(&counted), 1.0)?;
        buffers.record(&mut encoder)?;
        let counts = buffers.read_counts(&mut encoder)?;
        let raw = buffers.read_raw(&mut encoder)?;
        let exact = buffers.read_exact(&mut encoder)?;
        device.queue.submit([encoder.finish()]);
        device.wait();
        let counts = ready(counts.try_take()?);
        match (raw.try_take()?, exact.try_take()?) {
            (Taken::Truncated(needed), Taken::Truncated(_)) => {
                assert_eq!(counts.needed(), Some(needed));
                assert!(!counts.is_complete());
                seen.push(counts.status);
                buffers.grow(&needed)?;
            }
            (Taken::Ready(raw), Taken::Ready(exact)) => {
                assert!(counts.is_complete());
                assert!(raw.pairs.len() >= exact.collisions.pairs.len());
                break exact;
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(found.collisions.pairs, expected);
    // Too many spheres, then too many segments, then too many pairs.
    assert_eq!(
        seen,
        [
            status::TOO_MANY_SPHERES,
            status::TOO_MANY_SEGMENTS,
            status::TRUNCATED
        ]
    );
    device.assert_silent();
    Ok(())
}

#[test]
fn a_crowd_past_the_limit_is_refused_and_the_next_step_is_as_ever() -> Result {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let mut buffers = pipeline.create_buffers(&BufferOptions {
        max_candidates: 100_000,
        ..BufferOptions::new(2000)
    })?;
    let crowd = vec![Sphere::new([0.0; 3], 1.0); 2000];
    let mut encoder = device.encoder();
    buffers.prepare(Source::Host(&crowd), 1.0)?;
    buffers.record(&mut encoder)?;
    let ticket = buffers.read_exact(&mut encoder)?;
    device.queue.submit([encoder.finish()]);
    device.wait();
    let error = ticket.try_take().err();
    assert!(
        matches!(
            error,
            Some(Error::TooManyCandidates {
                needed: 1_999_000,
                limit: 100_000
            })
        ),
        "{error:?}"
    );
    let spheres = gas(1000, 6);
    let found = exact(&device, &mut buffers, Source::Host(&spheres), 1.0);
    assert_eq!(found.collisions.pairs, truth(&spheres, 1.0));
    Ok(())
}

#[test]
fn spheres_with_wrong_values_are_set_aside_and_named() -> Result {
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
        (2999, |s| s.velocity[0] = 1e18), // Too far in a step of 2.
    ];
    let mut valid = spheres.clone();
    for (i, spoil) in wrong {
        spoil(&mut spheres[i]);
        // Where nothing is.
        valid[i] = Sphere::new([1e9 + 1e6 * i as f32, 0.0, 0.0], 0.0);
    }
    // A radius of -0 is one of 0.
    spheres[77].radius = -0.0;
    valid[77].radius = 0.0;
    let source = Interleaved::new(&device, &spheres);
    let found = exact(
        &device,
        &mut buffers,
        Source::Buffers(&source.spheres()),
        2.0,
    );
    assert_eq!(found.collisions.pairs, truth(&valid, 2.0));
    let mut named = found.counts.invalid_spheres.clone();
    named.sort_unstable();
    assert_eq!(named, wrong.map(|(i, _)| i as u32));
    assert_eq!((found.counts.invalid, found.counts.status), (8, 16));

    // All of them, and the next step.
    let none = Interleaved::new(&device, &vec![Sphere::new([f32::NAN; 3], 1.0); 3000]);
    let found = exact(&device, &mut buffers, Source::Buffers(&none.spheres()), 1.0);
    assert_eq!(
        (found.collisions.pairs.len(), found.counts.invalid),
        (0, 3000)
    );
    assert_eq!(found.counts.invalid_spheres.len(), 32);
    let found = exact(&device, &mut buffers, Source::Host(&valid), 2.0);
    assert_eq!(found.collisions.pairs, truth(&valid, 2.0));
    device.assert_silent();
    Ok(())
}

#[test]
fn worlds_of_any_unit_are_scaled_on_the_device() -> Result {
    let device = Device::real();
    let mut buffers = world(&device, 3000)?;
    let spheres = gas(3000, 8);
    for (length, time) in [
        (-100, 0),
        // Radii are subnormal numbers, and most coordinates are not.
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
            Source::Buffers(&source.spheres()),
            dt,
        );
        let what = format!("length {length:e}, time {time:e}");
        assert_eq!(found.collisions.pairs, truth(&scaled, dt), "{what}");
        // The scale is none of the candidates' business, but where digits get lost.
        let most = 4 * exact(&device, &mut buffers, Source::Host(&spheres), 1.0)
            .counts
            .candidates;
        assert!(found.counts.candidates < most, "{what}: {:?}", found.counts);
    }
    // No time, in which velocities are of no account.
    let source = Interleaved::new(&device, &spheres);
    let found = exact(
        &device,
        &mut buffers,
        Source::Buffers(&source.spheres()),
        0.0,
    );
    assert_eq!(found.collisions.pairs, truth(&spheres, 0.0));
    Ok(())
}

/// The gap between two spheres at a time, in float64.
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

#[test]
fn what_the_device_tells_of_times_and_depths_is_as_good_as_promised() -> Result {
    let device = Device::real();
    let mut buffers = world(&device, 20_000)?;
    let mut worst = 0.0_f64;
    for (seed, scene) in (0..).zip(Scene::ALL) {
        let spheres = scene.generate(10_000, seed);
        let exact = exact(&device, &mut buffers, Source::Host(&spheres), 1.0);
        assert_eq!(exact.collisions.pairs, truth(&spheres, 1.0), "{scene}");
        let mut encoder = device.encoder();
        buffers.prepare(Source::Host(&spheres), 1.0)?;
        buffers.record(&mut encoder)?;
        let ticket = buffers.read_raw(&mut encoder)?;
        let raw = ready(device.finish(encoder, ticket));
        for pair in &raw.pairs {
            let [a, b] = [pair.a, pair.b].map(|i| &spheres[i as usize]);
            if !pair.grazing {
                assert!(time_of_impact(a, b, 1.0)?.is_some(), "{scene}: {pair:?}");
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
    }
    println!("worst: 2^{:.1}", worst.log2());
    assert!(worst < (-19_f64).exp2(), "2^{:.1}", worst.log2());
    Ok(())
}

#[test]
fn tickets_and_encoders_may_be_dropped_at_any_time() -> Result {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let mut buffers = pipeline.create_buffers(&BufferOptions {
        recordings: 2,
        ..BufferOptions::new(1000)
    })?;
    let spheres = gas(1000, 9);
    let expected = truth(&spheres, 1.0);
    for round in 0..20 {
        let mut encoder = device.encoder();
        buffers.prepare(Source::Host(&spheres), 1.0)?;
        buffers.record(&mut encoder)?;
        let ticket = buffers.read_exact(&mut encoder)?;
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
        let found = exact(&device, &mut buffers, Source::Host(&spheres), 1.0);
        assert_eq!(found.collisions.pairs, expected);
    }
    // A ticket outlives its buffers.
    let mut encoder = device.encoder();
    buffers.prepare(Source::Host(&spheres), 1.0)?;
    buffers.record(&mut encoder)?;
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
fn stages_are_timed_when_that_is_asked_for() -> Result {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let mut buffers = pipeline.create_buffers(&BufferOptions {
        timestamp_period: Some(device.queue.get_timestamp_period()),
        ..BufferOptions::new(5000)
    })?;
    let source = Interleaved::new(&device, &gas(5000, 10));
    let found = exact(
        &device,
        &mut buffers,
        Source::Buffers(&source.spheres()),
        1.0,
    );
    let names: Vec<_> = found.counts.stages.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        [
            "load", "measure", "plan", "bin", "scan", "scatter", "tally", "pairs"
        ]
    );
    let all: std::time::Duration = found.counts.stages.iter().map(|(_, time)| *time).sum();
    assert!(!all.is_zero());
    Ok(())
}

#[test]
fn a_world_that_goes_while_it_is_in_flight_takes_nothing_with_it() -> Result {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let spheres = gas(500, 11);
    let mut stays = pipeline.create_buffers(&BufferOptions::new(500))?;
    for waits in [false, true] {
        let mut goes = pipeline.create_buffers(&BufferOptions::new(500))?;
        let mut encoder = device.encoder();
        goes.prepare(Source::Host(&spheres), 1.0)?;
        goes.record(&mut encoder)?;
        let ticket = goes.read_exact(&mut encoder)?;
        if waits {
            device.queue.submit([encoder.finish()]);
            drop((goes, ticket));
        } else {
            drop((goes, ticket));
            device.queue.submit([encoder.finish()]);
        }
        device.wait();
        let found = exact(&device, &mut stays, Source::Host(&spheres), 1.0);
        assert_eq!(found.collisions.pairs, truth(&spheres, 1.0));
    }
    device.assert_silent();
    Ok(())
}

#[test]
fn a_period_that_is_none_asks_for_no_times() -> Result {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let spheres = gas(500, 12);
    for period in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let mut buffers = pipeline.create_buffers(&BufferOptions {
            timestamp_period: Some(period),
            ..BufferOptions::new(500)
        })?;
        let found = exact(&device, &mut buffers, Source::Host(&spheres), 1.0);
        assert_eq!(found.collisions.pairs, truth(&spheres, 1.0));
        assert!(found.counts.stages.is_empty());
    }
    Ok(())
}

/// A device whose buffers are a mebibyte at most.
#[test]
fn more_pairs_than_can_be_read_back_are_an_error() -> Result {
    let device = Device::with_limits(wgpu::Limits {
        max_storage_buffer_binding_size: 1 << 20,
        max_buffer_size: 1 << 20,
        ..wgpu::Limits::default()
    });
    let pipeline = CollisionPipeline::new(&device.device)?;
    let mut buffers = pipeline.create_buffers(&BufferOptions {
        pairs: 1 << 16,
        ..BufferOptions::new(300)
    })?;
    for (count, fits) in [(150, true), (250, false), (100, true)] {
        let crowd = vec![Sphere::new([0.0; 3], 1.0); count];
        let mut encoder = device.encoder();
        buffers.prepare(Source::Host(&crowd), 1.0)?;
        buffers.record(&mut encoder)?;
        let raw = buffers.read_raw(&mut encoder)?;
        let exact = buffers.read_exact(&mut encoder)?;
        device.queue.submit([encoder.finish()]);
        device.wait();
        assert_eq!(ready(raw.try_take()?).pairs.len(), count * (count - 1) / 2);
        match exact.try_take() {
            Ok(taken) if fits => {
                assert_eq!(ready(taken).collisions.pairs.len(), count * (count - 1) / 2);
            }
            Err(Error::DeviceLimit { needed, .. }) if !fits => {
                assert_eq!(needed, 64 * (count * (count - 1) / 2) as u64);
            }
            other => panic!("{count}: {other:?}"),
        }
    }
    device.assert_silent();
    Ok(())
}

#[test]
fn changes_survive_growth_and_an_encoder_that_was_dropped_after_it() -> Result {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let mut buffers = pipeline.create_buffers(&BufferOptions {
        pairs: 300,
        changes: true,
        ..BufferOptions::new(500)
    })?;
    // As far apart, and one in another's reach.
    let apart = |reach: f32| -> Vec<Sphere> {
        (0..400)
            .map(|i| Sphere::new([i as f32, 0.0, 0.0], if i < 200 { 0.5 } else { reach }))
            .collect()
    };
    let few = apart(0.25);
    let many = apart(1.5);
    let step = |buffers: &mut CollisionBuffers, spheres: &[Sphere]| {
        let mut encoder = device.encoder();
        buffers.prepare(Source::Host(spheres), 1.0)?;
        buffers.record(&mut encoder)?;
        let ticket = buffers.read_counts(&mut encoder)?;
        Result::Ok(ready(device.finish(encoder, ticket)))
    };
    let first = step(&mut buffers, &few)?;
    assert_eq!([first.began, first.lasted, first.ended], [199, 0, 0]);
    let truncated = step(&mut buffers, &many)?;
    assert_eq!([truncated.began, truncated.lasted, truncated.ended], [0; 3]);
    match truncated.needed() {
        Some(needed) => assert!(buffers.grow(&needed)?),
        None => panic!("{truncated:?}"),
    }
    for _ in 0..2 {
        let mut encoder = device.encoder();
        buffers.prepare(Source::Host(&many), 1.0)?;
        buffers.record(&mut encoder)?;
        drop(encoder);
    }
    let again = step(&mut buffers, &few)?;
    assert_eq!([again.began, again.lasted, again.ended], [0, 199, 0]);
    let grown = step(&mut buffers, &many)?;
    assert!(grown.began > 300 && grown.lasted == 199 && grown.ended == 0);
    Ok(())
}

#[test]
fn a_count_over_its_own_limit_is_told_apart_from_buffers_that_are_too_small() -> Result {
    let device = Device::real();
    let mut buffers = world(&device, 1000)?;
    let spheres = gas(500, 13);
    let source = Interleaved::new(&device, &spheres);
    let count = device.words(&[500]);
    let mut counted = source.spheres();
    counted.count = Count::Word {
        buffer: &count,
        offset: 0,
        at_most: 400,
    };
    let mut encoder = device.encoder();
    buffers.prepare(Source::Buffers(&counted), 1.0)?;
    buffers.record(&mut encoder)?;
    let ticket = buffers.read_exact(&mut encoder)?;
    device.queue.submit([encoder.finish()]);
    device.wait();
    let error = ticket.try_take().err().map(|error| error.to_string());
    let told = error.unwrap_or_default();
    assert!(
        told.contains("500 spheres") && told.contains("at_most"),
        "{told}"
    );
    Ok(())
}
