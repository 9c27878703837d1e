//! Tests that lists are those of the `Detector`, for all layouts of the buffers, units and motions.

use carom::gpu::{
    Attribute, BufferOptions, CollisionBuffers, CollisionPipeline, DeviceSpheres, Status,
    StepSummary,
};
use carom::{Error, Sphere, Step};
use carom_scenes::Scene;
use fastrand::Rng;

use crate::device::{Device, Interleaved, exact, ready};
use crate::{Result, gas, truth, truth_between, world};

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
    let (within_one, _) = truth(&spheres, 1.0).into_parts();
    assert!(within_one.len() > 300);
    // The first step also tests the device, which decides the pairs of the others itself.
    for dt in [0.125, 0.125, 0.3, 1.0 / 3.0] {
        let mut expected = within_one.clone();
        for pair in &mut expected {
            pair.toi *= dt;
        }
        let found = exact(&device, &mut buffers, &Step::on_device(source, dt));
        assert_eq!(*found.collisions.pairs, expected);
    }
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

#[test]
fn all_pairs_are_grazing_until_the_device_has_passed_its_self_test() -> Result {
    let device = Device::real();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let make = || pipeline.create_buffers(&BufferOptions::new(20_000));
    let (mut buffers, mut others) = (make()?, make()?);
    let mut spheres = Scene::Touching.generate(8000, 1);
    // Float32 leaves open whether these pairs touch.
    for k in 0..100_u8 {
        let at = |x| [x, 3.0 * f32::from(k), -10.0];
        spheres.extend([0.0, 1.0 + f32::EPSILON].map(|x| Sphere::new(at(x), 0.5)));
    }
    let expected = truth(&spheres, 1.0);
    assert!(expected.len() > 1 << 14);
    let step = Step::new(&spheres, 1.0);
    let record = |buffers: &mut CollisionBuffers| {
        let mut encoder = device.encoder();
        buffers.record(&mut encoder, &step)?;
        let ticket = buffers.read_exact(&mut encoder)?;
        Ok::<_, Error>((encoder, ticket))
    };
    // The first recording with the test is dropped, the second one submitted.
    record(&mut buffers)?;
    let recorded = [record(&mut buffers)?, record(&mut others)?];
    for (encoder, ticket) in recorded {
        let found = ready(device.finish(encoder, ticket));
        assert_eq!(found.collisions.pairs, expected);
        let StepSummary {
            grazing,
            pairs,
            found,
            ..
        } = found.summary;
        assert!(found >= expected.len() as u64 + 100);
        assert_eq!([grazing, pairs], [found; 2]);
    }
    for buffers in [&mut others, &mut buffers] {
        let (encoder, ticket) = record(buffers)?;
        let found = ready(device.finish(encoder, ticket));
        assert_eq!(found.collisions.pairs, expected);
        assert_eq!(
            [found.summary.grazing, found.summary.pairs],
            [0, expected.len() as u64]
        );
    }
    device.assert_silent();
    Ok(())
}
