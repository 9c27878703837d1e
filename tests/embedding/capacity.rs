//! Tests of lists that are too long for their buffers.

use carom::gpu::{BufferOptions, Capacity, Status, wgpu};
use carom::{Error, Sphere, Step};

use crate::device::{Device, Interleaved, exact, ready};
use crate::{Result, gas, tested, truth, world};

#[test]
fn each_overflow_is_reported_and_growing_cures_it() -> Result {
    let device = Device::real();
    let pipeline = device.pipeline();
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
    let pipeline = device.pipeline();
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
fn more_pairs_than_can_be_read_back_are_an_error() -> Result {
    let device = Device::with_limits(wgpu::Limits {
        max_storage_buffer_binding_size: 1 << 20,
        max_buffer_size: 1 << 20,
        ..wgpu::Limits::default()
    });
    let pipeline = tested(&device)?;
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
    let pipeline = tested(&device)?;
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
fn a_capacity_of_zero_pairs_truncates_the_list_until_it_grows() -> Result {
    let device = Device::real();
    let options = BufferOptions::new(500).with_pairs(0);
    let mut buffers = device.pipeline().create_buffers(&options)?;
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
