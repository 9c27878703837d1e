//! Tests that every misuse of carom inside an application's wgpu device is an error that names the remedy.
//! The next correct call must work, and the application's error handler must see no error. The tests use
//! wgpu's noop device, which validates every call and computes nothing.

mod device;

use carom::gpu::{
    Attribute, BufferOptions, Capacity, CollisionBuffers, CollisionPipeline, DeviceSpheres,
    ExactCollisions, SimulationBufferOptions, Ticket, wgpu,
};
use carom::{Combine, Error, Mesh, SimulationOptions, Sphere, Step, Wall, Walls};
use device::{Device, Interleaved};
use wgpu::BufferUsages;

type Result<T = ()> = std::result::Result<T, Error>;

fn noop() -> Device {
    Device::noop(&wgpu::DeviceDescriptor::default())
}

fn world(device: &Device, options: &BufferOptions) -> Result<CollisionBuffers> {
    CollisionPipeline::new(&device.device)?.create_buffers(options)
}

const SPHERES: [Sphere; 2] = [Sphere {
    center: [0.0; 3],
    radius: 1.0,
    velocity: [0.0; 3],
    groups: 0,
}; 2];

fn assert_works(device: &Device, buffers: &mut CollisionBuffers) -> Result {
    let mut encoder = device.encoder();
    buffers.record(&mut encoder, &Step::new(&SPHERES, 1.0))?;
    let mut ticket = buffers.read_exact(&mut encoder)?;
    device.queue.submit([encoder.finish()]);
    device.wait();
    // The noop device computes nothing. So the results lack the serial number of the step, and carom
    // reports that the step was not submitted.
    assert!(matches!(ticket.try_take(), Err(Error::NotSubmitted)));
    // A ticket returns an error once, like results.
    assert!(matches!(ticket.try_take(), Err(Error::AlreadyTaken)));
    let taken = pollster::block_on(ticket.take());
    assert!(matches!(taken, Err(Error::AlreadyTaken)));
    device.assert_silent();
    Ok(())
}

fn assert_says<T: std::fmt::Debug>(result: Result<T>, what: &[&str]) {
    match result {
        Err(error) => {
            let text = error.to_string();
            for what in what {
                assert!(text.contains(what), "the message lacks {what:?}: {text}");
            }
        }
        Ok(value) => panic!("expected an error, got {value:?}"),
    }
}

#[test]
fn walls_need_room() -> Result {
    let device = noop();
    let mut buffers = world(&device, &BufferOptions::new(2))?;
    let walls = Walls::from_iter([Wall::half_space([0.0, 0.0, 1.0], -2.0)]);
    let on_device = Interleaved::new(&device, &SPHERES);
    let on_device = on_device.spheres();
    let mut encoder = device.encoder();
    let on_host = Step::new(&SPHERES, 1.0).with_walls(&walls);
    let says = ["BufferOptions::with_walls"];
    assert_says(buffers.record(&mut encoder, &on_host), &says);
    let step = Step::on_device(on_device, 1.0).with_walls(&walls);
    assert_says(buffers.record(&mut encoder, &step), &says);
    assert_works(&device, &mut buffers)
}

#[test]
fn limits_that_are_too_low_are_named() -> Result {
    type Lower = fn(&mut wgpu::Limits);
    let lower: [(&str, Lower); 4] = [
        ("max_storage_buffers_per_shader_stage", |l| {
            l.max_storage_buffers_per_shader_stage = 7;
        }),
        ("max_compute_invocations_per_workgroup", |l| {
            l.max_compute_invocations_per_workgroup = 128;
        }),
        ("max_compute_workgroup_storage_size", |l| {
            l.max_compute_workgroup_storage_size = 8192;
        }),
        ("max_compute_workgroups_per_dimension", |l| {
            l.max_compute_workgroups_per_dimension = 1000;
        }),
    ];
    for (name, lower) in lower {
        let mut required_limits = wgpu::Limits::default();
        lower(&mut required_limits);
        let device = Device::noop(&wgpu::DeviceDescriptor {
            required_limits,
            ..Default::default()
        });
        assert_says(
            CollisionPipeline::new(&device.device),
            &[name, "wgpu::Limits::default()"],
        );
        device.assert_silent();
    }
    let device = noop();
    assert_works(&device, &mut world(&device, &BufferOptions::new(10))?)
}

#[test]
fn zero_and_excessive_capacities_are_errors() -> Result {
    let device = noop();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let none = BufferOptions::new(0);
    assert_says(pipeline.create_buffers(&none), &["spheres is 0"]);
    let none = BufferOptions::new(10).with_recordings(0);
    assert_says(pipeline.create_buffers(&none), &["recordings is 0"]);
    assert_says(
        pipeline.create_buffers(&BufferOptions::new(u32::MAX)),
        &["4294967295 spheres"],
    );
    assert_says(
        pipeline.create_buffers(&BufferOptions::new(1 << 29)),
        &["max_storage_buffer_binding_size", "134217728"],
    );
    let pairs = BufferOptions::new(10).with_pairs(u32::MAX);
    assert_says(
        pipeline.create_buffers(&pairs),
        &["68719476720 bytes", "pairs"],
    );
    assert_works(
        &device,
        &mut pipeline.create_buffers(&BufferOptions::new(10))?,
    )
}

#[test]
fn options_that_need_another_option_name_it() -> Result {
    let device = noop();
    let options = || BufferOptions::new(9);
    assert_says(
        world(&device, &options().with_wall_collisions(9)),
        &["with_walls"],
    );
    world(
        &device,
        &options().with_wall_collisions(9).with_triangles(1),
    )?;
    assert_says(
        world(&device, &options().with_kernel_times()),
        &["with_timestamp_period"],
    );
    world(
        &device,
        &options().with_kernel_times().with_timestamp_period(1.0),
    )?;
    Ok(())
}

#[test]
fn reading_without_a_recording_is_an_error_that_names_record() -> Result {
    let device = noop();
    let mut buffers = world(&device, &BufferOptions::new(10))?;
    let mut encoder = device.encoder();
    let missing = |buffers: &mut CollisionBuffers, encoder: &mut wgpu::CommandEncoder| {
        let record = ["`CollisionBuffers::record`"];
        assert_says(buffers.read_summary(encoder), &record);
        assert_says(buffers.read_raw(encoder), &record);
        assert_says(buffers.read_exact(encoder), &record);
    };
    missing(&mut buffers, &mut encoder);
    // A step that carom refuses to record cannot be read back.
    assert!(
        buffers
            .record(&mut encoder, &Step::new(&SPHERES, -1.0))
            .is_err()
    );
    missing(&mut buffers, &mut encoder);
    buffers.record(&mut encoder, &Step::new(&SPHERES, 1.0))?;
    drop(buffers.read_summary(&mut encoder)?);
    // After `CollisionBuffers::grow`, the new buffers have no results until a step is recorded.
    assert!(buffers.grow(&Capacity::for_spheres(20))?);
    missing(&mut buffers, &mut encoder);
    device.queue.submit([encoder.finish()]);
    assert_works(&device, &mut buffers)
}

#[test]
fn a_failed_recording_takes_no_upload_or_staging_buffer() -> Result {
    let device = noop();
    let options = BufferOptions::new(10).with_recordings(1);
    let mut buffers = world(&device, &options)?;
    let fail = |buffers: &mut CollisionBuffers, encoder: &mut wgpu::CommandEncoder| {
        assert_says(
            buffers.record(encoder, &Step::new(&SPHERES, -1.0)),
            &["time step", "-1"],
        );
        let nan = [Sphere::new([f32::NAN; 3], 1.0)];
        assert_says(
            buffers.record(encoder, &Step::between(&SPHERES, &nan, 1.0)),
            &["sphere 0 of the second set", "center.x"],
        );
        assert_says(
            buffers.record(encoder, &Step::new(&[SPHERES[0]; 11], 1.0)),
            &["11 spheres", "made for 10", "grow"],
        );
    };
    for _ in 0..3 {
        let mut encoder = device.encoder();
        fail(&mut buffers, &mut encoder);
        // There is only one upload buffer. After a step could not be recorded, the buffer must be
        // free for the next step.
        buffers.record(&mut encoder, &Step::new(&SPHERES, 1.0))?;
        let ticket = buffers.read_summary(&mut encoder)?;
        fail(&mut buffers, &mut encoder);
        assert_says(
            buffers.record(&mut encoder, &Step::new(&SPHERES, 1.0)),
            &["recordings in flight", "limit of 1"],
        );
        assert_says(
            buffers.read_exact(&mut encoder),
            &["readbacks in flight", "limit of 1"],
        );
        device.queue.submit([encoder.finish()]);
        device.wait();
        drop(ticket);
        device.assert_silent();
    }
    assert_works(&device, &mut buffers)
}

#[test]
fn an_exhausted_ring_of_buffers_is_an_error_and_recovers() -> Result {
    let device = noop();
    let options = BufferOptions::new(10).with_recordings(3);
    let mut buffers = world(&device, &options)?;
    for round in 0..5 {
        let mut encoder = device.encoder();
        let mut tickets = Vec::new();
        for _ in 0..3 {
            buffers.record(&mut encoder, &Step::new(&SPHERES, 1.0))?;
            tickets.push(buffers.read_summary(&mut encoder)?);
        }
        assert_says(
            buffers.record(&mut encoder, &Step::new(&SPHERES, 1.0)),
            &["in flight", "limit of 3", "BufferOptions::with_recordings"],
        );
        assert_says(
            buffers.read_summary(&mut encoder),
            &["readbacks in flight", "limit of 3"],
        );
        if round % 2 == 0 {
            device.queue.submit([encoder.finish()]);
            device.wait();
        } else {
            drop(encoder);
        }
        // A readback occupies a staging buffer until the caller takes the result from the
        // readback's ticket (its handle) or drops the ticket.
        let mut encoder = device.encoder();
        buffers.record(&mut encoder, &Step::new(&SPHERES, 1.0))?;
        assert_says(
            buffers.read_summary(&mut encoder),
            &["readbacks in flight", "limit of 3"],
        );
        drop(tickets);
        drop(buffers.read_summary(&mut encoder)?);
        device.queue.submit([encoder.finish()]);
        device.wait();
    }
    assert_works(&device, &mut buffers)
}

#[test]
fn buffers_that_do_not_fit_their_description_are_named() -> Result {
    let device = noop();
    let mut buffers = world(&device, &BufferOptions::new(10))?;
    let source = Interleaved::new(&device, &[SPHERES[0]; 10]);
    let right = source.spheres();
    let buffer = |size, usage| {
        device.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    };
    let vertices = buffer(320, BufferUsages::VERTEX | BufferUsages::COPY_DST);
    let short = buffer(156, BufferUsages::STORAGE);
    let long = buffer(4096, BufferUsages::STORAGE);
    let at = Attribute::new;
    let own = |offset| at(&source.buffer, offset, 32);
    let placed = |center, radius| {
        DeviceSpheres::new(10, center, radius)
            .with_velocity(own(16))
            .with_groups(own(28))
    };
    let center = |center| placed(center, own(12));
    let radius = |radius| placed(own(0), radius);
    let count = |buffer, offset| right.with_count_in(buffer, offset);
    let last = 4 * u64::from(u32::MAX);
    let cases = [
        (center(at(&vertices, 0, 32)), vec!["centers", "STORAGE"]),
        (
            center(at(&short, 4, 16)),
            vec!["centers", "156 bytes", "byte 160"],
        ),
        (
            center(at(&source.buffer, last, last)),
            vec!["centers", "320 bytes"],
        ),
        (
            center(at(&source.buffer, u64::MAX - 3, 32)),
            vec!["centers", "320 bytes", "2^64"],
        ),
        (
            center(at(&source.buffer, 0, last + 4)),
            vec![
                "centers",
                "stride of 17179869184 bytes",
                "at most 17179869180",
            ],
        ),
        (
            center(at(&source.buffer, 0, 8)),
            vec!["centers", "stride of 8 bytes", "takes 12"],
        ),
        (
            center(at(&source.buffer, 2, 32)),
            vec!["centers", "offset of 2 bytes", "multiple of 4", "align"],
        ),
        (
            center(at(&source.buffer, 0, 30)),
            vec!["centers", "stride of 30 bytes", "multiple of 4", "align"],
        ),
        (radius(at(&vertices, 0, 4)), vec!["radii", "STORAGE"]),
        (
            radius(at(&source.buffer, 12, 0)),
            vec!["radii", "stride of 0 bytes", "takes 4", "Values::Constant"],
        ),
        (
            right.with_groups(at(&source.buffer, 28, 0)),
            vec!["groups", "stride of 0 bytes", "Values::Constant"],
        ),
        (
            right.with_velocity(at(&short, 120, 16)),
            vec!["velocities", "156 bytes"],
        ),
        (
            right.with_previous_center(at(&short, 120, 16)),
            vec!["previous centers", "156 bytes"],
        ),
        (
            right.with_groups(at(&short, 156, 4)),
            vec!["groups", "156 bytes"],
        ),
        (count(&vertices, 0), vec!["count", "STORAGE"]),
        (
            count(&short, 1),
            vec!["count", "offset of 1 bytes", "multiple of 4"],
        ),
        (count(&short, 156), vec!["count", "156 bytes", "byte 160"]),
        // From here on, all buffers are long enough, but two attributes of the spheres (such as
        // centre and radius) overlap.
        (
            radius(at(&source.buffer, 8, 32)),
            vec![
                "radii",
                "value 0, at byte 8",
                "value 0 of the centers, at byte 0",
            ],
        ),
        (
            radius(at(&source.buffer, 12, 4)),
            vec![
                "radii",
                "value 5, at byte 32",
                "value 1 of the centers, at byte 32",
            ],
        ),
        (
            right.with_velocity(at(&source.buffer, 8, 32)),
            vec!["velocities", "value 0 of the centers", "offset", "stride"],
        ),
        (
            right.with_previous_center(at(&source.buffer, 8, 32)),
            vec!["previous centers", "value 0 of the centers"],
        ),
        (
            right.with_velocity(at(&source.buffer, 16, 28)),
            vec!["velocities", "of the centers"],
        ),
        (
            right.with_groups(at(&source.buffer, 24, 32)),
            vec![
                "groups",
                "value 0, at byte 24",
                "value 0 of the velocities, at byte 16",
            ],
        ),
        (
            count(&source.buffer, 72),
            vec!["centers", "value 2, at byte 64", "the count, at byte 72"],
        ),
        (
            DeviceSpheres::new(10, at(&long, 0, 16), at(&long, 16, 16)),
            vec![
                "radii",
                "value 0, at byte 16",
                "value 1 of the centers, at byte 16",
            ],
        ),
        (
            DeviceSpheres::new(10, at(&long, 24, 32), 1.0).with_velocity(at(&long, 0, 32)),
            vec![
                "velocities",
                "value 1, at byte 32",
                "value 0 of the centers, at byte 24",
            ],
        ),
        (
            DeviceSpheres::new(10, at(&long, 0, 12), at(&long, 116, 4)),
            vec![
                "radii",
                "value 0, at byte 116",
                "value 9 of the centers, at byte 108",
            ],
        ),
        (
            DeviceSpheres::new(10, at(&source.buffer, 0, 32), at(&long, 0, 8))
                .with_groups(at(&long, 8, 8)),
            vec![
                "groups",
                "value 0, at byte 8",
                "value 1 of the radii, at byte 8",
            ],
        ),
        (
            DeviceSpheres::new(11, at(&short, 0, 12), 1.0),
            vec!["11 spheres", "made for 10"],
        ),
        (
            DeviceSpheres::new(10, at(&source.buffer, 0, 32), f32::NAN),
            vec!["radius is NaN"],
        ),
        (
            DeviceSpheres::new(10, at(&source.buffer, 0, 32), -1.0),
            vec!["radius is -1.0"],
        ),
    ];
    for (spheres, says) in cases {
        let mut encoder = device.encoder();
        let named = buffers.record(&mut encoder, &Step::on_device(spheres, 1.0));
        assert_says(named, &says);
        let between = Step::between_on_device(right, spheres, 1.0);
        assert!(buffers.record(&mut encoder, &between).is_err());
        device.assert_silent();
    }
    let mut encoder = device.encoder();
    assert_works(&device, &mut buffers)?;
    buffers.record(&mut encoder, &Step::on_device(source.first(9), 1.0))?;
    device.queue.submit([encoder.finish()]);
    device.assert_silent();
    Ok(())
}

/// All triangles with faults are named, and those without an area or repeated can be left out.
#[test]
fn faults_of_a_mesh_are_all_named_or_cleaned() -> Result {
    let corners = vec![
        [0.0; 3],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [2.0, 0.0, 0.0],
        [-0.0; 3],
    ];
    let triangles = vec![
        [0, 1, 2],
        [0, 1, 3],
        [2, 4, 1],
        [1, 1, 2],
        [3, 1, 2],
        [0, 1, 2],
    ];
    let refused = Mesh::new(corners.clone(), triangles.clone()).map(drop);
    let says = [
        "triangle 1 of the mesh",
        "no area",
        "1 other triangles are invalid, too: 3",
    ];
    assert_says(refused, &says);
    let (mesh, left_out) = Mesh::cleaned(corners.clone(), triangles)?;
    assert_eq!(mesh.triangles(), [[0, 1, 2], [3, 1, 2]]);
    assert_eq!(left_out, [1, 2, 3, 5]);
    let far = vec![[0, 1, 3], [0, 1, 9], [0, 1, 2], [7, 1, 2]];
    let says = [
        "triangle 0 of the mesh",
        "9",
        "1 other triangles are invalid, too: 2",
    ];
    assert_says(Mesh::cleaned(corners.clone(), far).map(drop), &says);
    let many = vec![[0, 0, 0]; 300];
    let says = ["299 other triangles", ", 100 and more"];
    assert_says(Mesh::new(corners, many).map(drop), &says);
    Ok(())
}

/// Rules that only a simulation on the CPU follows are named, and not ignored.
#[test]
fn rules_that_a_gpu_cannot_follow_are_named() -> Result {
    let device = noop();
    let pipeline = CollisionPipeline::new(&device.device)?;
    let rules = SimulationOptions::new;
    for (rules, says) in [
        (
            rules().with_restitutions(vec![0.5; 9], Combine::Min),
            "`restitutions` has length 9, but there are 10 spheres",
        ),
        (rules().with_contact_changes(), "with_contact_changes"),
    ] {
        let options = SimulationBufferOptions::new(10).with_simulation(rules);
        assert_says(pipeline.create_simulation(&options).map(drop), &[says]);
    }
    let options = SimulationBufferOptions::new(10).with_simulation(rules());
    pipeline.create_simulation(&options).map(drop)
}

#[test]
fn unusual_layouts_are_accepted() -> Result {
    let device = noop();
    let mut buffers = world(&device, &BufferOptions::new(10))?;
    let buffer = device.words(&[0; 1024]);
    let at = |offset, stride| Attribute::new(&buffer, offset, stride);
    let taken = [
        // All attributes of a sphere are fields of one struct, after a header.
        DeviceSpheres::new(10, at(48, 32), at(60, 32))
            .with_velocity(at(36, 32))
            .with_groups(at(32, 32)),
        // The attributes of the spheres are separate arrays in one buffer, followed by the number
        // of spheres.
        DeviceSpheres::new(10, at(0, 12), at(240, 4))
            .with_count_in(&buffer, 320)
            .with_velocity(at(120, 12))
            .with_groups(at(280, 4)),
        // Each centre of 12 bytes is followed by 4 bytes of padding. The array of radii begins in
        // the padding after the last centre.
        DeviceSpheres::new(10, at(0, 16), at(156, 4)),
        // The array of radii precedes the array of centres in a shared buffer.
        DeviceSpheres::new(10, at(40, 12), at(0, 4)),
        // The number of spheres is stored in the padding after the centre of sphere 1.
        DeviceSpheres::new(10, at(0, 16), 1.0).with_count_in(&buffer, 28),
        // The previous and the current centre of each sphere alternate in one array.
        DeviceSpheres::new(10, at(16, 32), at(12, 32)).with_previous_center(at(0, 32)),
        // Two attributes of the spheres may read the same bytes if their offsets and strides are equal.
        DeviceSpheres::new(10, at(0, 16), at(12, 16)).with_previous_center(at(0, 16)),
        DeviceSpheres::new(10, at(0, 16), at(12, 16)).with_velocity(at(0, 16)),
        DeviceSpheres::new(10, at(0, 16), at(12, 16)).with_groups(at(12, 16)),
        // The buffer is an array of points, each followed by a radius. Sphere i moves from point i
        // to point i + 1, so successive spheres share points. The first of the next two layouts
        // takes the radius of sphere i at point i, the second at point i + 1.
        DeviceSpheres::new(10, at(16, 16), at(12, 16)).with_previous_center(at(0, 16)),
        DeviceSpheres::new(10, at(16, 16), at(28, 16)).with_previous_center(at(0, 16)),
        // The centres have a stride of 64 bytes, so there is a gap of 52 bytes after each centre.
        // All ten radii are in the gap after the first centre.
        DeviceSpheres::new(10, at(0, 64), at(12, 4)),
        // The centres have a stride of 64 bytes, and the radii in the same buffer have a stride of
        // 32 bytes. So two radii lie in each gap between centres, until all ten radii are placed.
        // Nothing overlaps.
        DeviceSpheres::new(10, at(0, 64), at(12, 32)),
        // With these strides, the attributes of several spheres would overlap. But there is only one sphere,
        // so the strides have no effect.
        DeviceSpheres::new(1, at(0, 12), at(12, 4)).with_velocity(at(16, 12)),
        DeviceSpheres::new(0, at(0, 16), at(0, 16)),
    ];
    for spheres in taken {
        for step in [
            Step::on_device(spheres, 1.0),
            Step::between_on_device(spheres, taken[14], 1.0),
        ] {
            let mut encoder = device.encoder();
            if let Err(error) = buffers.record(&mut encoder, &step) {
                panic!("{error}: {spheres:?}");
            }
            device.queue.submit([encoder.finish()]);
            device.wait();
            device.assert_silent();
        }
    }
    assert_works(&device, &mut buffers)
}

#[test]
fn a_buffer_of_another_device_is_refused() -> Result {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::NOOP;
    descriptor.backend_options.noop.enable = true;
    let instance = wgpu::Instance::new(descriptor);
    let device = || {
        let adapter = pollster::block_on(instance.request_adapter(&Default::default()))
            .unwrap_or_else(|error| panic!("{error}"));
        let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))
            .unwrap_or_else(|error| panic!("{error}"));
        Device::with(device, queue)
    };
    let (own, other) = (device(), device());
    let mut buffers = world(&own, &BufferOptions::new(10))?;
    let foreign = Interleaved::new(&other, &SPHERES);
    assert_says(
        buffers.record(&mut own.encoder(), &Step::on_device(foreign.spheres(), 1.0)),
        &["pipeline's device"],
    );
    other.assert_silent();
    assert_works(&own, &mut buffers)
}

#[test]
fn a_lost_device_is_an_error_and_a_new_one_works() -> Result {
    // A time step consists of five calls. In each run of this loop, the device is lost before a different
    // call.
    for at in 0..5 {
        let device = noop();
        let pipeline = CollisionPipeline::new(&device.device)?;
        let mut buffers = pipeline.create_buffers(&BufferOptions::new(10))?;
        let lose = |when: usize| {
            if at == when {
                device.device.destroy();
                // The device is lost, so the test ignores an error of `poll`.
                let _ = device.device.poll(wgpu::PollType::Poll);
            }
        };
        let mut step = || -> Result {
            let mut encoder = device.encoder();
            lose(0);
            buffers.record(&mut encoder, &Step::new(&SPHERES, 1.0))?;
            lose(1);
            let mut ticket = buffers.read_exact(&mut encoder)?;
            lose(2);
            device.queue.submit([encoder.finish()]);
            lose(3);
            let _ = device.device.poll(wgpu::PollType::Poll);
            lose(4);
            match ticket.try_take() {
                Err(Error::NotSubmitted) => Ok(()),
                Ok(None) => Err(Error::DeviceLost),
                other => other.map(drop),
            }
        };
        let first = step();
        let second = step();
        for result in [first, second.clone()] {
            assert!(
                matches!(result, Ok(()) | Err(Error::DeviceLost)),
                "lost before call {at}: {result:?}"
            );
        }
        assert_eq!(second, Err(Error::DeviceLost), "lost before call {at}");
        let again = buffers.record(&mut device.encoder(), &Step::new(&SPHERES, 1.0));
        assert_says(again, &["lost", "new `CollisionPipeline`"]);
        assert_eq!(
            pipeline.create_buffers(&BufferOptions::new(10)).err(),
            Some(Error::DeviceLost)
        );
        assert_eq!(
            CollisionPipeline::new(&device.device).err(),
            Some(Error::DeviceLost)
        );
        assert_eq!(
            pollster::block_on(pipeline.create_buffers_async(&BufferOptions::new(10))).err(),
            Some(Error::DeviceLost)
        );
        assert_eq!(
            pollster::block_on(CollisionPipeline::new_async(&device.device)).err(),
            Some(Error::DeviceLost)
        );
        let simulation = SimulationBufferOptions::new(10);
        assert_eq!(
            pollster::block_on(pipeline.create_simulation_async(&simulation)).err(),
            Some(Error::DeviceLost)
        );
        let more = Capacity::for_spheres(20);
        assert_eq!(buffers.grow(&more), Err(Error::DeviceLost));
        assert_eq!(
            pollster::block_on(buffers.grow_async(&more)),
            Err(Error::DeviceLost)
        );
        device.assert_silent();
        let new = noop();
        assert_works(&new, &mut world(&new, &BufferOptions::new(10))?)?;
    }
    Ok(())
}

#[test]
fn a_submit_that_fails_returns_no_results() -> Result {
    let device = noop();
    let mut buffers = world(&device, &BufferOptions::new(10))?;
    let mut encoder = device.encoder();
    buffers.record(&mut encoder, &Step::new(&SPHERES, 1.0))?;
    let mut ticket = buffers.read_exact(&mut encoder)?;
    // The application makes the submit fail, because its encoder copies a buffer that is still mapped.
    let scope = device
        .device
        .push_error_scope(wgpu::ErrorFilter::Validation);
    let mapped = device.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 16,
        usage: BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
        mapped_at_creation: true,
    });
    encoder.copy_buffer_to_buffer(&mapped, 0, &mapped, 8, 8);
    device.queue.submit([encoder.finish()]);
    assert!(pollster::block_on(scope.pop()).is_some());
    device.wait();
    assert_eq!(ticket.try_take().err(), Some(Error::NotSubmitted));
    assert_works(&device, &mut buffers)
}

#[test]
fn buffers_of_reductions_that_were_not_requested_are_errors() -> Result {
    let device = noop();
    let buffers = world(&device, &BufferOptions::new(10))?;
    for (asked, option) in [
        (buffers.earliest(), "BufferOptions::with_earliest"),
        (buffers.sorted(), "BufferOptions::with_sorted"),
        (buffers.sorted_dispatch(), "BufferOptions::with_sorted"),
        (buffers.contact_offsets(), "BufferOptions::with_contacts"),
        (buffers.contact_indices(), "BufferOptions::with_contacts"),
        (buffers.changes(), "BufferOptions::with_changes"),
    ] {
        assert_says(asked, &[option]);
    }
    Ok(())
}

#[test]
fn pipelines_buffers_and_tickets_can_move_to_other_threads() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<CollisionPipeline>();
    sent::<CollisionBuffers>();
    sent::<Ticket<ExactCollisions>>();
    fn waits(
        device: &wgpu::Device,
        pipeline: &CollisionPipeline,
        options: &BufferOptions,
        simulation: &SimulationBufferOptions,
        (buffers, more): (&mut CollisionBuffers, &Capacity),
        ticket: Ticket<ExactCollisions>,
    ) -> impl Send {
        (
            CollisionPipeline::new_async(device),
            pipeline.create_buffers_async(options),
            pipeline.create_simulation_async(simulation),
            buffers.grow_async(more),
            ticket.take(),
        )
    }
    let _ = waits;
}
