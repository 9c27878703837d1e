//! Tests of recordings: what does not fit into their buffers, what is refused, and the state that they leave.

use carom::gpu::{
    Attribute, DeviceSpheres, SimulationBufferOptions, SimulationState, SimulationStatus, wgpu,
};
use carom::{Combine, Domain, Error, HardSphere, Mesh, Simulation, SimulationOptions, Wall, Walls};
use glam::DVec3;

use crate::device::Device;
use crate::like_cpu::{assert_same_impacts, cube, random_spheres};
use crate::meshes::box_mesh;
use crate::triangles::three_balls;
use crate::world::{World, all_impacts, buffers, periodic, under_gravity};

#[test]
fn a_full_list_of_impacts_loses_none() {
    let spheres = random_spheres(24, 1, 1.0);
    let rules = SimulationOptions::new()
        .with_walls(cube())
        .with_impact_list();
    let mut on_cpu = None;
    for capacity in [1, 3] {
        let options = SimulationBufferOptions::new(24)
            .with_simulation(rules.clone())
            .with_impacts(capacity);
        let mut world = World::new(&spheres, &options);
        let given = world.spheres();
        let (simulation, report) = on_cpu.get_or_insert_with(|| {
            let mut simulation = Simulation::new(given, rules.clone()).expect("a simulation");
            let report = simulation.step(2.0).expect("a step");
            (simulation, report)
        });
        let (state, list) = world.advance_with_list(2.0);
        println!("{state:?}");
        assert!(list.len() as u64 == all_impacts(&state) && list.len() > 20);
        assert!(state.rollbacks > 5, "{state:?}");
        assert_same_impacts(&list, &report.impacts, simulation, 2e-3);
    }
    // Two pairs of balls have impacts at the same time, but the list of impacts has room for only
    // one. So the simulation stops before these impacts.
    let balls = [(0.0, 0.0), (2.0, 0.0), (0.0, 50.0), (2.0, 50.0)]
        .map(|(x, y)| HardSphere::new([x, y, 0.0], 0.5).with_velocity([1.0 - x, 0.0, 0.0]));
    let mut world = World::new(&balls, &SimulationBufferOptions::new(4).with_impacts(1));
    let mut state = world.record(1.0);
    for _ in 0..20 {
        state = world.record(0.0);
    }
    let behind = SimulationStatus::BEHIND;
    assert_eq!(
        state.status,
        SimulationStatus::IMPACTS_FULL | behind,
        "{state:?}"
    );
    assert_eq!((state.sphere_impacts, state.listed), (0, 0), "{state:?}");
    assert!((state.time - 0.5).abs() < 1e-3, "{state:?}");
}

#[test]
fn a_substep_that_is_rolled_back_leaves_the_buffers_as_they_were() {
    let options = SimulationBufferOptions::new(3)
        .with_rounds(1)
        .with_substeps(1);
    let mut world = World::new(&three_balls(), &options);
    let words =
        |world: &World| [&world.places, &world.motions].map(|buffer| world.device.read(buffer));
    let before = words(&world);
    // Two recordings in turn must roll back their only substep, for different reasons. In the first
    // recording, the second ball is at rest. So its pad is 0, and an impact moves the ball out of
    // its pad. In the second recording, the substep has two impacts, each of which needs a round.
    // But the buffers allow only one round.
    for (rollbacks, status) in [
        (1, SimulationStatus::LEFT_PAD),
        (2, SimulationStatus::TOO_FEW_ROUNDS),
    ] {
        let state = world.record(if rollbacks == 1 { 1.0 } else { 0.0 });
        let status = status | SimulationStatus::BEHIND;
        assert_eq!(state.status, status, "{state:?}");
        assert_eq!((state.time, state.remaining), (0.0, 1.0), "{state:?}");
        assert_eq!(
            (state.sphere_impacts, state.rollbacks),
            (0, rollbacks),
            "{state:?}"
        );
        assert_eq!(words(&world), before);
    }
    // Both recordings were rolled back, so the simulation still has to advance by the whole
    // duration of 1.
    let state = world.advance(0.0);
    assert_eq!((state.time, state.sphere_impacts), (1.0, 2));
    let spheres = world.spheres();
    let speeds: Vec<_> = spheres.iter().map(|ball| ball.velocity[0]).collect();
    assert_eq!(speeds, [0.0, 0.0, 1.0]);
    assert!((spheres[2].center[0] - 3.0).abs() < 1e-6, "{spheres:?}");
}

/// A simulation with too few substeps says so, drops the time that it may not take over, and catches up with the number of
/// substeps that its state asks for. No time is lost without notice.
#[test]
fn a_simulation_that_falls_behind_says_so() {
    let spheres = random_spheres(24, 1, 1.0);
    let rules = SimulationOptions::new().with_walls(cube());
    let options = SimulationBufferOptions::new(24)
        .with_simulation(rules)
        .with_substeps(1);
    let frame = 0.5;
    for most in [f32::INFINITY, 0.25, 0.0] {
        let options = options.clone().with_most_remaining(most);
        let mut world = World::new(&spheres, &options);
        for requested in (1..6).map(|k| frame * f64::from(k)) {
            let state = world.record(frame as f32);
            let sum = state.time + state.remaining + state.dropped;
            assert!((sum - requested).abs() < 1e-6, "{state:?}");
            assert_eq!(state.status, SimulationStatus::BEHIND, "{state:?}");
            assert!(state.remaining > 0.0 && state.time > 0.0, "{state:?}");
            assert!(state.remaining < f64::from(most) + frame, "{state:?}");
            assert_eq!(
                state.dropped > 0.0,
                most < 1.0 && requested > frame,
                "{state:?}"
            );
        }
    }
    let mut world = World::new(&spheres, &options);
    let mut state = world.record(frame as f32);
    let mut behind = 0;
    for requested in (2..12).map(|k| frame * f64::from(k)) {
        let substeps = state.substeps_for(frame);
        world.buffers.set_substeps(substeps).expect("some substeps");
        state = world.record(frame as f32);
        assert_eq!(
            state.remaining > 0.0,
            state.status.contains(SimulationStatus::BEHIND)
        );
        assert!(
            (state.time + state.remaining - requested).abs() < 1e-6,
            "{state:?}"
        );
        behind += u32::from(state.remaining > 0.0);
    }
    assert!(behind < 5, "{behind} {state:?}");
    let refused = world.buffers.set_substeps(0);
    assert!(matches!(
        refused,
        Err(Error::ZeroCapacity {
            what: "substeps",
            ..
        })
    ));
    for most in [f32::NAN, -1.0] {
        let options = options.clone().with_most_remaining(most);
        let refused = world.device.pipeline().create_simulation(&options);
        let problem = refused.expect_err("it is no duration").to_string();
        assert!(
            problem.contains("takes over from earlier ones"),
            "{problem}"
        );
    }
}

#[test]
fn a_list_of_candidates_that_is_too_short_shortens_the_substeps() {
    let spheres = random_spheres(24, 1, 1.0);
    let rules = SimulationOptions::new().with_walls(cube());
    let options = SimulationBufferOptions::new(24)
        .with_candidates(3)
        .with_simulation(rules.clone());
    let mut world = World::new(&spheres, &options);
    let given = world.spheres();
    let mut state = world.record(1.0);
    let mut seen = state.status;
    for _ in 0..200 {
        if state.remaining == 0.0 {
            break;
        }
        state = world.record(0.0);
        seen |= state.status;
    }
    assert!(
        seen.contains(SimulationStatus::SEARCH_INCOMPLETE),
        "{seen:?}"
    );
    assert_eq!(state.remaining, 0.0, "{state:?}");
    let mut simulation = Simulation::new(given, rules).expect("a simulation");
    let report = simulation.step(1.0).expect("a step");
    assert_eq!(state.sphere_impacts, report.sphere_impacts);
    assert_eq!(state.wall_impacts, report.wall_impacts);
    for (gpu, cpu) in world.spheres().iter().zip(simulation.spheres()) {
        assert!(
            DVec3::from(gpu.center).distance(cpu.center.into()) < 1e-3,
            "{gpu:?} {cpu:?}"
        );
    }
}

#[test]
fn spheres_with_invalid_values_take_no_part() {
    let mut balls = three_balls();
    balls[1].velocity = [f64::NAN, 0.0, 0.0];
    let options = SimulationBufferOptions::new(3);
    let mut world = World::new(&balls, &options);
    let motions = world.device.read(&world.motions);
    let state = world.advance(0.5);
    assert!(state.status.contains(SimulationStatus::SPHERES_LEFT_OUT));
    assert_eq!(state.sphere_impacts, 0);
    assert_eq!(world.device.read(&world.motions), motions);
    assert_eq!(world.spheres()[0].center[0], 0.5);
}

/// Its inverse mass is a subnormal float32, which a device may take for 0.
#[test]
fn a_sphere_without_an_energy_in_float32_takes_no_part() {
    for (mass, takes_part) in [(1e39, false), (1e19, false), (1e18, true), (0.5, true)] {
        let mut balls = three_balls();
        balls[1].mass = mass;
        let mut world = World::new(&balls, &SimulationBufferOptions::new(3));
        let state = world.advance(0.5);
        let left_out = state.status.contains(SimulationStatus::SPHERES_LEFT_OUT);
        assert_eq!(left_out, !takes_part, "{mass}: {state:?}");
        assert_eq!(state.remaining, 0.0, "{mass}: {state:?}");
    }
}

#[test]
fn options_that_only_the_cpu_has_are_named_errors() {
    let device = Device::real();
    let pipeline = device.pipeline();
    let problem = |options: SimulationBufferOptions| match pipeline.create_simulation(&options) {
        Err(Error::InvalidSimulation { problem, .. }) => problem,
        other => panic!("{other:?}"),
    };
    let with = |rules| SimulationBufferOptions::new(1).with_simulation(rules);
    let rules = SimulationOptions::new();
    assert!(
        problem(with(rules.clone().with_bodies(vec![None; 2]))).contains("`bodies` has length 2")
    );
    assert!(
        problem(with(rules.clone().with_groups(vec![0]))).contains("DeviceSpheres::with_groups")
    );
    let limited = problem(with(rules.clone().with_max_impacts(100_000)));
    assert!(
        limited.contains("`SimulationOptions::with_max_impacts`"),
        "{limited}"
    );
    for (impacts, is_allowed) in [(0.2, true), (0.201, false), (0.4, false)] {
        let rules = rules.clone().with_impacts_per_substep(impacts);
        match pipeline.create_simulation(&with(rules)) {
            Ok(_) => assert!(is_allowed),
            Err(Error::InvalidSimulation { problem, .. }) => {
                let named = format!(
                    "the number of impacts in a substep is {impacts}, but must be at most 0.2"
                );
                assert!(!is_allowed && problem.contains(&named), "{problem}");
            }
            other => panic!("{other:?}"),
        }
    }
    let candidates = problem(SimulationBufferOptions::new(1).with_candidates(1 << 28));
    assert!(
        candidates.contains("candidates is 268435456"),
        "{candidates}"
    );
    let wall = Wall::half_space([1.0, 0.0, 0.0], 0.0);
    let many = Walls::from_iter((0..33).map(|_| wall));
    assert!(problem(with(rules.clone().with_walls(many))).contains("33 walls"));
    let mut many = Walls::from_iter((0..31).map(|_| wall));
    for _ in 0..2 {
        many.push_mesh(box_mesh([0.0; 3], [10.0; 3]));
    }
    assert!(problem(with(rules.clone().with_walls(many))).contains("31 walls and 2 meshes"));
    for (center, radius) in [([1000.0, 0.0, 0.0], 1.0), ([0.0; 3], 60.0)] {
        let ball = Walls::from_iter([wall, Wall::sphere(center, radius)]);
        let domain = Domain::rectangular([0.0; 3], [9.0; 3]).with_periodic([false, true, true]);
        let rules = rules.clone().with_walls(ball).with_domain(domain);
        let made = pipeline.create_simulation(&with(rules));
        // The domain is open along x, so the first ball may be anywhere along x.
        match made.err() {
            None => assert_eq!(radius, 1.0),
            Some(Error::InvalidWall {
                wall: 1, problem, ..
            }) => {
                assert!(radius == 60.0 && problem.contains("six cells"), "{problem}");
            }
            other => panic!("{other:?}"),
        }
    }
    let ball = Walls::from_iter([Wall::sphere([0.0, 0.0, -1000.0], 1.0)]);
    let made = pipeline.create_simulation(&with(periodic(9.0).with_walls(ball)));
    assert!(
        matches!(made.err(), Some(Error::InvalidWall { wall: 0, problem, .. }) if problem.contains("100 cells"))
    );
    let none = SimulationBufferOptions::new(1);
    for (options, name) in [
        (none.clone().with_rounds(0), "rounds"),
        (none.clone().with_candidates(0), "candidates"),
        (none.clone().with_impacts(0), "impacts"),
    ] {
        let error = pipeline.create_simulation(&options).err();
        assert!(matches!(error, Some(Error::ZeroCapacity { what, .. }) if what == name));
    }
    let simulation = pipeline.create_simulation(&none).expect("buffers");
    let missing = simulation.impacts().expect_err("no list of impacts");
    assert!(matches!(
        missing,
        Error::NotAskedFor {
            option: "impacts",
            ..
        }
    ));
    assert!((missing.to_string()).contains("`SimulationBufferOptions::with_impacts`"));
    device.assert_silent();
}

#[test]
fn recordings_that_cannot_be_made_are_named_errors() {
    let device = Device::noop(&wgpu::DeviceDescriptor::default());
    let pipeline = device.pipeline();
    let options = SimulationBufferOptions::new(2).with_recordings(1);
    let mut simulation = pipeline.create_simulation(&options).expect("buffers");
    let words = device.words(&[0; 24]);
    let at = |offset| Attribute::new(&words, offset, 32);
    let balls = |count: u32| DeviceSpheres::new(count, at(0), 1.0).with_velocity(at(16));
    let mut record = |spheres: &DeviceSpheres<'_>, duration| {
        let mut encoder = device.encoder();
        let recorded = simulation.record(&mut encoder, spheres, duration);
        encoder.finish();
        recorded
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert!(record(&balls(2), -1.0).contains("time step"));
    assert!(record(&balls(3), 1.0).contains("made for 2"));
    let counted = balls(1).with_count_in(&words, 0);
    assert!(record(&counted, 1.0).contains("number of spheres is in a buffer"));
    assert!(record(&DeviceSpheres::new(2, at(0), 1.0), 1.0).contains("no velocities"));
    let shared = record(&balls(2).with_inverse_mass(at(4)), 1.0);
    assert!(
        shared.contains("inverse masses") && shared.contains("shares bytes"),
        "{shared}"
    );
    let short = record(
        &balls(2).with_inverse_mass(Attribute::new(&words, 92, 8)),
        1.0,
    );
    assert!(short.contains("96 bytes long"), "{short}");
    assert_eq!(record(&balls(2).with_inverse_mass(at(28)), 1.0), "");
    device.assert_silent();
    // If only one recording may be in flight, a second recording fails while the first has not been submitted.
    let mut encoders = [device.encoder(), device.encoder()];
    let mut both = encoders
        .iter_mut()
        .map(|encoder| simulation.record(encoder, &balls(2), 1.0));
    assert!(matches!(both.next(), Some(Ok(()))));
    assert!(matches!(
        both.next(),
        Some(Err(Error::TooManyInFlight { limit: 1, .. }))
    ));
}

#[test]
fn the_state_arrives_by_a_ticket() {
    let ball = |x: f64, v: f64| HardSphere::new([x, 0.0, 0.0], 1.0).with_velocity([v, 0.0, 0.0]);
    let spheres = [ball(0.0, 1.0), ball(5.0, -1.0)];
    let mut world = World::new(&spheres, &SimulationBufferOptions::new(2));
    let mut encoder = world.device.encoder();
    let nothing = world.buffers.read_state(&mut encoder).map(drop);
    assert_eq!(nothing, Err(Error::NothingRecorded));
    world.record_into(&mut encoder, 2.0);
    let mut ticket = world.buffers.read_state(&mut encoder).expect("a ticket");
    let Ok(None) = ticket.try_take() else {
        panic!("the state arrives before it is computed");
    };
    world.device.queue.submit([encoder.finish()]);
    let words = world.device.read(world.buffers.state());
    let Ok(Some(state)) = ticket.try_take() else {
        panic!("the state has not arrived");
    };
    assert_eq!(ticket.try_take(), Err(Error::AlreadyTaken));
    let in_buffer = SimulationState::from_bytes(bytemuck::cast_slice(&words));
    assert_eq!(Some(state), in_buffer);
    assert!(state.serial == 1 && state.time > 0.0, "{state:?}");

    // A step is recorded, but its recording is dropped before it is submitted. Reading the state afterwards
    // must be an error.
    let mut dropped = world.device.encoder();
    world.record_into(&mut dropped, 1.0);
    drop(dropped);
    let mut encoder = world.device.encoder();
    let mut ticket = world.buffers.read_state(&mut encoder).expect("a ticket");
    world.device.queue.submit([encoder.finish()]);
    world.device.wait();
    let lost = ticket.try_take().map(|_| ());
    assert_eq!(lost, Err(Error::NotSubmitted));
    world.device.assert_silent();
}

/// Between recordings, a wall gets other velocities, jumps, and is switched off and on. The times are those of straight
/// motions.
#[test]
fn a_wall_moves_as_each_recording_is_told() {
    let shapes: [fn(f32) -> Wall; 3] = [
        |x| Wall::half_space([-2.0, 0.0, 0.0], -2.0 * x),
        |x| Wall::sphere([x + 1.0, 0.0, 0.0], 1.0),
        |x| Wall::cylinder([x + 1.0, 0.0, 5.0], [0.0, 0.0, 1.0], 1.0),
    ];
    for shape in shapes {
        let ball = HardSphere::new([0.0; 3], 0.5).with_velocity([1.0, 0.0, 0.0]);
        let wall = shape(10.0).with_velocity([-1.0, 0.0, 0.0]);
        let rules = SimulationOptions::new().with_walls(Walls::from_iter([wall]));
        let options = SimulationBufferOptions::new(1).with_simulation(rules);
        let mut world = World::new(&[ball], &options);
        let velocity = |world: &mut World, u: f32| {
            let change = |walls: &mut Walls| {
                let wall = &mut walls.simple_mut()[0];
                *wall = wall.with_velocity([u, 0.0, 0.0]);
            };
            world.buffers.edit_walls(change).expect("it is valid");
        };
        let assert_at = |world: &World, place: f64, velocity: f64| {
            let ball = world.spheres()[0];
            assert!((ball.center[0] - place).abs() < 1e-5, "{ball:?} {place}");
            assert!((ball.velocity[0] - velocity).abs() < 1e-5, "{ball:?}");
        };
        assert_eq!(world.advance(2.0).wall_impacts, 0);
        // The face is at 8 and stops. Of two edits before a recording, the last one holds.
        velocity(&mut world, 3.0);
        velocity(&mut world, 0.0);
        assert_eq!(world.advance(2.0).wall_impacts, 0);
        velocity(&mut world, -0.5);
        assert_eq!(world.advance(3.0).wall_impacts, 1);
        // The ball was at 4 at time 4, so that its front met the face at 8 − t/2.
        let met = 3.5 / 1.5;
        assert_at(&world, 4.0 + met - 2.0 * (3.0 - met), -2.0);
        // A wall on the way of the ball, 1 before its front.
        let jump = |walls: &mut Walls| {
            walls.simple_mut()[0] = Wall::half_space([1.0, 0.0, 0.0], 3.5);
        };
        world.buffers.edit_walls(jump).expect("it is valid");
        world.buffers.set_wall_enabled(0, false).expect("a wall");
        assert_eq!(world.advance(0.25).wall_impacts, 1);
        world.buffers.set_wall_enabled(0, true).expect("a wall");
        assert_eq!(world.advance(0.5).wall_impacts, 2);
        assert_at(&world, 4.5, 2.0);
        // A wall on its way that is off.
        let jump = |walls: &mut Walls| {
            walls.simple_mut()[0] = Wall::half_space([-1.0, 0.0, 0.0], -6.0);
        };
        world.buffers.edit_walls(jump).expect("it is valid");
        world.buffers.set_wall_enabled(0, false).expect("a wall");
        assert_eq!(world.advance(1.0).wall_impacts, 2);
        assert_at(&world, 6.5, 2.0);
    }
}

#[test]
fn a_mesh_that_begins_to_move_meets_a_ball_at_rest() {
    let corners = [[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0]].map(|[x, y]| [x, y, 0.0]);
    let mut walls = Walls::new();
    walls.push_mesh(Mesh::new(corners.to_vec(), vec![[0, 1, 2]]).expect("a valid mesh"));
    let rules = SimulationOptions::new().with_walls(walls);
    let ball = HardSphere::new([0.0, 0.0, 3.0], 0.5);
    let options = SimulationBufferOptions::new(1).with_simulation(rules);
    let mut world = World::new(&[ball], &options);
    assert_eq!(world.advance(1.0).wall_impacts, 0);
    let rise = |walls: &mut Walls| {
        let mesh = walls.meshes()[0].clone();
        walls.meshes_mut()[0] = mesh.with_velocity([0.0, 0.0, 10.0]);
    };
    world.buffers.edit_walls(rise).expect("it is valid");
    // A recording that is dropped takes no edit with it.
    let mut encoder = world.device.encoder();
    world.record_into(&mut encoder, 1.0);
    drop(encoder);
    assert_eq!(world.advance(0.5).wall_impacts, 1);
    // They met after 0.25.
    let ball = world.spheres()[0];
    assert!(
        (ball.center[2] - 8.0).abs() < 1e-4 && (ball.velocity[2] - 20.0).abs() < 1e-4,
        "{ball:?}"
    );
}

/// A mesh gets another velocity, and is switched off, while another one stays. Each wall has its own restitution, which may
/// change.
#[test]
fn a_mesh_moves_and_goes_as_each_recording_is_told() {
    let square = |low: f32, high: f32| {
        let corners = vec![
            [low, -5.0, 0.0],
            [high, -5.0, 0.0],
            [high, 5.0, 0.0],
            [low, 5.0, 0.0],
        ];
        Mesh::new(corners, vec![[0, 1, 2], [0, 2, 3]]).expect("a valid mesh")
    };
    let mut walls = Walls::from_iter([Wall::half_space([0.0, 0.0, -1.0], -8.0)]);
    walls.push_mesh(square(-5.0, 0.0).with_restitution(0.5));
    walls.push_mesh(square(0.0, 5.0).with_restitution(0.25));
    let balls =
        [-2.5, 2.5].map(|x| HardSphere::new([x, 0.0, 3.0], 0.5).with_velocity([0.0, 0.0, -1.0]));
    let rules = SimulationOptions::new()
        .with_walls(walls)
        .with_wall_restitution(0.75);
    let options = SimulationBufferOptions::new(2).with_simulation(rules);
    let mut world = World::new(&balls, &options);
    let assert_at = |world: &World, expected: [[f64; 2]; 2]| {
        for (ball, [place, velocity]) in world.spheres().iter().zip(expected) {
            assert!((ball.center[2] - place).abs() < 1e-5, "{ball:?}");
            assert!((ball.velocity[2] - velocity).abs() < 1e-5, "{ball:?}");
        }
    };
    assert_eq!(world.advance(1.0).wall_impacts, 0);
    let rise = |walls: &mut Walls| {
        let mesh = walls.meshes()[1].clone();
        walls.meshes_mut()[1] = mesh.with_velocity([0.0, 0.0, 1.0]);
    };
    world.buffers.edit_walls(rise).expect("it is valid");
    assert_eq!(world.advance(1.0).wall_impacts, 1);
    // The second ball met its mesh after 0.75, at the height 1.25, and left it with a quarter of the approach speed of 2.
    assert_at(&world, [[1.0, -1.0], [1.25 + 0.25 * 1.5, 1.5]]);
    world.buffers.set_wall_enabled(1, false).expect("a wall");
    assert_eq!(world.advance(2.0).wall_impacts, 1);
    assert_at(&world, [[-1.0, -1.0], [4.625, 1.5]]);
    // At the ceiling, with its face at 8.
    world.advance(2.0);
    assert_at(&world, [[-3.0, -1.0], [7.5 - 0.125 * 0.75, -1.125]]);
    let elastic = |walls: &mut Walls| {
        let ceiling = &mut walls.simple_mut()[0];
        *ceiling = ceiling.with_restitution(1.0);
        let mesh = walls.meshes()[1].clone();
        walls.meshes_mut()[1] = mesh.with_velocity([0.0; 3]).with_restitution(1.0);
    };
    world.buffers.edit_walls(elastic).expect("it is valid");
    // The second mesh has stopped at the height 5.
    world.advance(2.0);
    let left = 2.0 - (7.5 - 0.125 * 0.75 - 5.5) / 1.125;
    assert_at(&world, [[-5.0, -1.0], [5.5 + 1.125 * left, 1.125]]);
    let mut refused = |change: &mut dyn FnMut(&mut Walls), words: &str| {
        let before = world.buffers.walls().clone();
        let problem = world.buffers.edit_walls(change).expect_err(words);
        assert!(problem.to_string().contains(words), "{problem}");
        assert_eq!(world.buffers.walls(), &before);
    };
    let one_more = &mut |walls: &mut Walls| {
        walls.push(Wall::sphere([0.0; 3], 1.0));
    };
    refused(
        one_more,
        "there were 1 walls and 2 meshes, and now there are 2 and 2",
    );
    let other = &mut |walls: &mut Walls| walls.meshes_mut()[1] = square(0.0, 5.0);
    refused(other, "mesh 1 has other vertices");
    let flat = &mut |walls: &mut Walls| walls.simple_mut()[0] = Wall::half_space([0.0; 3], 0.0);
    refused(flat, "wall 0 is invalid");
    let none = world.buffers.set_wall_enabled(5, true).expect_err("none");
    assert!(none.to_string().contains("there are 5 walls"), "{none}");
}

/// The restitutions of spheres are combined with one another and with those of walls as `Combine` says, also with meshes and
/// where spheres can rest. Each recording is told those that have changed, even if the one before was dropped.
#[test]
fn each_sphere_has_a_restitution_of_its_own() {
    type Of = fn(f64, f64) -> f64;
    let combines: [(Combine, Of); 4] = [
        (Combine::Average, |a, b| 0.5 * (a + b)),
        (Combine::Min, f64::min),
        (Combine::Multiply, |a, b| a * b),
        (Combine::Max, f64::max),
    ];
    let floor = Wall::half_space([1.0, 0.0, 0.0], 0.0).with_restitution(0.875);
    let corners = vec![[0.25, 30.0, -5.0], [0.25, 40.0, 0.0], [0.25, 30.0, 5.0]];
    let mesh = Mesh::new(corners, vec![[0, 1, 2]]).expect("a valid mesh");
    let ball =
        |x: f64, y: f64, u: f64| HardSphere::new([x, y, 0.0], 0.5).with_velocity([u, 0.0, 0.0]);
    // After 0.5, balls 0 and 5 meet the floor and the mesh, and 1 and 2, and 3 and 4 one another.
    let balls = [
        ball(1.0, 0.0, -1.0),
        ball(4.0, 10.0, 1.0),
        ball(6.0, 10.0, -1.0),
        ball(4.0, 20.0, 1.0),
        ball(6.0, 20.0, -1.0),
        ball(1.25, 33.0, -1.0),
    ];
    let own = vec![0.5, 0.75, 0.25, 1.0, 0.5, 0.25];
    for (combine, of) in combines {
        for with_mesh in [false, true] {
            let mut walls = Walls::from_iter([floor]);
            if with_mesh {
                walls.push_mesh(mesh.clone().with_restitution(0.625));
            }
            let rules = SimulationOptions::new()
                .with_walls(walls)
                .with_restitutions(own.clone(), combine);
            let options = SimulationBufferOptions::new(6).with_simulation(rules);
            let mut world = World::new(&balls, &options);
            let start = [&world.places, &world.motions].map(|buffer| world.device.read(buffer));
            let speeds = |world: &World| world.spheres().iter().map(|s| s.velocity[0]).collect();
            let assert_speeds = |world: &World, expected: &[f64]| {
                let found: Vec<f64> = speeds(world);
                for (found, expected) in found.iter().zip(expected) {
                    assert!(
                        (found - expected).abs() < 1e-6,
                        "{combine:?}: {found} {expected}"
                    );
                }
            };
            world.advance(1.0);
            let pairs = [of(0.75, 0.25), of(1.0, 0.5)];
            let last = of(0.25, if with_mesh { 0.625 } else { 0.875 });
            let [one, other] = pairs;
            assert_speeds(&world, &[of(0.5, 0.875), -one, one, -other, other, last]);
            // The same once more, with other restitutions.
            for (k, e) in [(0, 0.125), (2, 0.875), (3, 0.0), (5, 1.0)] {
                (world.buffers.set_restitution_of(k, e)).expect("a valid restitution");
            }
            let mut dropped = world.device.encoder();
            world.record_into(&mut dropped, 1.0);
            drop(dropped);
            for (to, words) in [&world.places, &world.motions].iter().zip(&start) {
                (world.device.queue).write_buffer(to, 0, bytemuck::cast_slice(words));
            }
            world.advance(1.0);
            let [one, other] = [of(0.75, 0.875), of(0.0, 0.5)];
            let last = of(1.0, if with_mesh { 0.625 } else { 0.875 });
            assert_speeds(&world, &[of(0.125, 0.875), -one, one, -other, other, last]);
            for (sphere, e, words) in [(6, 0.5, "made for 6"), (0, 1.5, "sphere 0 is 1.5")] {
                let problem = world
                    .buffers
                    .set_restitution_of(sphere, e)
                    .expect_err(words);
                assert!(problem.to_string().contains(words), "{problem}");
            }
        }
        // Where spheres can rest, a ball bounces with its own restitution, a slow one is elastic only if it is, and one
        // without restitution stays.
        let rules = under_gravity(
            Walls::from_iter([Wall::half_space([0.0, 1.0, 0.0], 0.0)]),
            [1.0, 1.0],
            1e-3,
        );
        let rules = rules.with_restitutions(vec![0.0, 0.5, 1.0, 0.25], combine);
        let drops: Vec<_> = [0.0, 2.0, 4.0, 6.0]
            .map(|x| HardSphere::new([x, 1.0, 0.0], 0.5))
            .to_vec();
        let mut world = World::new(&drops, &buffers(4, &rules));
        world.advance(0.5);
        for (k, (ball, own)) in world
            .spheres()
            .iter()
            .zip([0.0, 0.5, 1.0, 0.25])
            .enumerate()
        {
            // After the fall of 0.5, and before the second impact.
            let fallen = (2.0 * 0.5 / 9.8_f64).sqrt();
            let speed = of(own, 1.0) * 9.8 * fallen;
            let time = 0.5 - fallen;
            if 2.0 * speed / 9.8 > time {
                let height = 0.5 + speed * time - 4.9 * time * time;
                assert!(
                    (ball.center[1] - height).abs() < 1e-4,
                    "{combine:?} {k} {ball:?}"
                );
            } else if speed == 0.0 {
                assert!((ball.center[1] - 0.5).abs() < 1e-4 && ball.velocity[1].abs() < 1e-6);
            }
        }
    }
}

/// Between recordings, spheres change their compound bodies and groups. Set before the first recording, bodies are those of
/// buffers that were created with them.
#[test]
fn bodies_and_groups_change_between_recordings() {
    let ball =
        |x: f64, y: f64, u: f64| HardSphere::new([x, y, 0.0], 0.5).with_velocity([u, 0.0, 0.0]);
    // Three pairs, of which each meets after 0.5.
    let balls: Vec<_> = [0.0, 10.0, 20.0]
        .iter()
        .flat_map(|&y| [ball(0.0, y, 1.0), ball(2.0, y, -1.0)])
        .collect();
    let of = |bodies: [Option<u32>; 6]| {
        let rules = SimulationOptions::new().with_bodies(bodies.to_vec());
        SimulationBufferOptions::new(6).with_simulation(rules)
    };
    let (first, second) = (
        [Some(4), Some(4), None, None, None, Some(4)],
        [None, Some(4), Some(3), Some(3), None, Some(1)],
    );
    let assert_bounce = |world: &World, expected: [bool; 3]| {
        let speeds: Vec<_> = world.spheres().iter().map(|s| s.velocity[0]).collect();
        for (pair, bounces) in speeds.chunks(2).zip(expected) {
            let speed = if bounces { -1.0 } else { 1.0 };
            let off = (pair[0] - speed).abs().max((pair[1] + speed).abs());
            assert!(off < 1e-6, "{speeds:?} {expected:?}");
        }
    };
    let set = |world: &mut World, bodies: [Option<u32>; 6]| {
        for (sphere, body) in bodies.into_iter().enumerate() {
            world.buffers.set_body(sphere, body).expect("a valid body");
        }
    };
    let mut world = World::new(&balls, &of(first));
    let start = [&world.places, &world.motions].map(|buffer| world.device.read(buffer));
    let again = |world: &World| {
        for (to, words) in [&world.places, &world.motions].iter().zip(&start) {
            (world.device.queue).write_buffer(to, 0, bytemuck::cast_slice(words));
        }
    };
    world.advance(1.0);
    assert_bounce(&world, [false, true, true]);
    again(&world);
    set(&mut world, second);
    let mut dropped = world.device.encoder();
    world.record_into(&mut dropped, 1.0);
    drop(dropped);
    world.advance(1.0);
    assert_bounce(&world, [true, false, true]);
    again(&world);
    let groups = [0, 0, 0, 0, 1, 1_u32 << 16];
    (world.device.queue).write_buffer(&world.groups, 0, bytemuck::cast_slice(&groups));
    world.buffers.set_body(2, None).expect("a valid body");
    world.advance(1.0);
    assert_bounce(&world, [true, true, false]);
    let [mut set_later, mut created] = [first, second].map(|of_it| World::new(&balls, &of(of_it)));
    set(&mut set_later, second);
    let states = [&mut set_later, &mut created].map(|world| world.advance(1.0));
    assert_eq!(states[0], states[1]);
    let bits = [&set_later, &created]
        .map(|world| [&world.places, &world.motions].map(|buffer| world.device.read(buffer)));
    assert_eq!(bits[0], bits[1]);
    let problem = world.buffers.set_body(6, None).expect_err("no such sphere");
    assert!(problem.to_string().contains("made for 6"), "{problem}");
    let mut without = World::new(&balls, &SimulationBufferOptions::new(6));
    let problem = (without.buffers)
        .set_body(0, Some(1))
        .expect_err("no bodies");
    assert!(problem.to_string().contains("with_bodies"), "{problem}");
}

/// Numbers of the rules may change between recordings. A ball flies on parabolas with each gravity in turn, and two balls
/// meet twice, with another restitution each time.
#[test]
fn each_recording_has_the_rules_set_before_it() {
    let falling = HardSphere::new([0.0, 0.0, 50.0], 0.5);
    let balls = [
        falling,
        HardSphere::new([0.0; 3], 0.5).with_velocity([2.0, 0.0, 0.0]),
        HardSphere::new([2.0, 0.0, 0.0], 0.5),
    ];
    let ends = [(1.0, -1.0), (-1.0, -6.0)];
    let walls = ends.map(|(normal, offset)| Wall::half_space([normal, 0.0, 0.0], offset));
    let rules = SimulationOptions::new().with_walls(Walls::from_iter(walls));
    let options = SimulationBufferOptions::new(3).with_simulation(rules);
    let mut world = World::new(&balls, &options);
    let velocities = |world: &World| [0, 1, 2].map(|k| world.spheres()[k].velocity);
    let near =
        |found: f64, expected: f64| assert!((found - expected).abs() < 1e-4, "{found} {expected}");
    world.buffers.set_restitution(0.5).expect("it is valid");
    world.advance(1.0);
    // The balls met at 0.5, and went on with the speeds 0.5 and 1.5.
    let [_, v, w] = velocities(&world);
    near(v[0], 0.5);
    near(w[0], 1.5);
    world
        .buffers
        .set_wall_restitution(0.0)
        .expect("it is valid");
    world
        .buffers
        .set_gravity([0.0, 0.0, -4.0])
        .expect("it is valid");
    world.advance(0.5);
    near(velocities(&world)[0][2], -2.0);
    near(world.spheres()[0].center[2], 49.5);
    world
        .buffers
        .set_gravity([0.0, 2.0, 0.0])
        .expect("it is valid");
    world.advance(3.0);
    let [falling, _, w] = velocities(&world);
    near(falling[1], 6.0);
    near(falling[2], -2.0);
    // The second ball lost its speed at the wall.
    near(w[0], 0.0);
    for (wrong, words) in [
        (world.buffers.set_restitution(1.5), "the restitution is 1.5"),
        (
            world.buffers.set_gravity([f64::NAN; 3]),
            "gravity along x is NaN",
        ),
        (world.buffers.set_contact_time(1e-3), "no room"),
    ] {
        let message = wrong.expect_err(words).to_string();
        assert!(message.contains(words), "{message}");
    }
    // What was refused has changed nothing.
    world.advance(0.5);
    near(velocities(&world)[0][1], 7.0);
}
