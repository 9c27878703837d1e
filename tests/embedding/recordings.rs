//! Tests of encoders, submits, tickets and timestamps in any order.

use carom::gpu::{
    BufferOptions, CollisionBuffers, CollisionPipeline, SimulationBufferOptions, wgpu,
};
use carom::{Error, Sphere, Step};

use crate::device::{Device, Interleaved, exact, ready};
use crate::{Result, gas, truth};

#[test]
fn recordings_and_worlds_in_one_encoder_do_not_interfere() -> Result {
    let device = Device::real();
    let pipeline = device.pipeline();
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
fn tickets_and_encoders_may_be_dropped_at_any_time() -> Result {
    let device = Device::real();
    let pipeline = device.pipeline();
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

/// If the application forgets to unmap a buffer, its submit fails, and the next one has the results.
#[test]
fn a_buffer_that_is_still_mapped_fails_the_submit_only() -> Result {
    let device = Device::real();
    let pipeline = device.pipeline();
    let mut buffers = pipeline.create_buffers(&BufferOptions::new(100))?;
    let mut simulation = pipeline.create_simulation(&SimulationBufferOptions::new(100))?;
    let spheres = gas(100, 11);
    let words: &[u8] = bytemuck::cast_slice(&spheres);
    let buffer = device.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: words.len() as u64,
        usage: wgpu::BufferUsages::STORAGE,
        mapped_at_creation: true,
    });
    let mapped = buffer.get_mapped_range_mut(..);
    mapped.expect("it is mapped").copy_from_slice(words);
    let source = Interleaved { buffer, count: 100 };
    for is_mapped in [true, false] {
        let scope = (device.device).push_error_scope(wgpu::ErrorFilter::Validation);
        let mut encoder = device.encoder();
        buffers.record(&mut encoder, &Step::on_device(source.spheres(), 1.0))?;
        let list = buffers.read_exact(&mut encoder)?;
        simulation.record(&mut encoder, &source.spheres(), 1.0)?;
        let mut state = simulation.read_state(&mut encoder)?;
        let list = device.finish(encoder, list);
        let problem = pollster::block_on(scope.pop()).map(|error| error.to_string());
        if is_mapped {
            assert!(problem.is_some_and(|problem| problem.contains("mapped")));
            assert_eq!(list.err(), Some(Error::NotSubmitted));
            assert_eq!(state.try_take().err(), Some(Error::NotSubmitted));
            source.buffer.unmap();
        } else {
            assert_eq!(problem, None);
            assert_eq!(ready(list).collisions.pairs, truth(&spheres, 1.0));
            assert!(ready(state.try_take()).time > 0.0);
        }
    }
    device.assert_silent();
    Ok(())
}

#[test]
fn stages_are_timed_on_request() -> Result {
    let device = Device::real();
    let pipeline = device.pipeline();
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
    let pipeline = device.pipeline();
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
    let pipeline = device.pipeline();
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
fn changes_survive_growth_and_dropped_encoders() -> Result {
    let device = Device::real();
    let pipeline = device.pipeline();
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
fn a_recording_that_fails_leaves_no_trace() -> Result {
    let device = Device::real();
    // A failed recording must not keep the only upload buffer. Otherwise, the next recording would
    // fail too.
    let options = BufferOptions::new(600).with_recordings(1);
    let mut buffers = device.pipeline().create_buffers(&options)?;
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
