//! Tests of walls of simple shapes.

use carom::gpu::{SimulationBufferOptions, wgpu};
use carom::{HardSphere, Mesh, Simulation, SimulationOptions, Sphere, Wall, Walls};
use fastrand::Rng;
use glam::DVec3;

use crate::device::Device;
use crate::like_cpu::{assert_like_cpu, assert_same_impacts, random_spheres, with_mesh};
use crate::meshes::box_mesh;
use crate::world::{World, all_impacts, energy, periodic};

#[test]
fn a_wall_that_crosses_the_periodic_cell_for_a_long_time_pushes_a_ball() {
    let corners = vec![[0.0, 3.0, 4.0], [0.0, 6.0, 4.0], [0.0, 5.0, 8.0]];
    let plate = Mesh::new(corners, vec![[0, 1, 2]]).expect("a mesh");
    let plate = plate.with_velocity([2.0, 0.0, 0.0]);
    let ball = Wall::sphere([0.0, 5.0, 5.0], 1.0).with_velocity([2.0, 0.0, 0.0]);
    // Each case has a wall, the number of its impacts on a ball until time 63, and the ball's
    // coordinate x at the end. The wall moves along x with speed 2, in a periodic cell 10 wide.
    // When the wall hits the ball at rest, the ball gets velocity 4. Then the ball hits the next
    // image of the wall and is at rest again. Between two impacts, the ball moves with speed 2
    // relative to the wall. Its path relative to the wall is 10 minus the thicknesses of ball and
    // wall.
    let cases = [
        (Walls::from_iter([ball]), 18, 1.0),
        (with_mesh(Walls::new(), plate), 14, 1.0),
    ];
    for (walls, impacts, place) in cases {
        let rules = periodic(10.0).with_walls(walls);
        let options = SimulationBufferOptions::new(1).with_simulation(rules);
        let mut world = World::new(&[HardSphere::new([5.0; 3], 0.5)], &options);
        let state = world.advance(63.0);
        println!("{state:?}");
        assert_eq!(state.wall_impacts, impacts, "{state:?}");
        let ball = world.spheres()[0];
        assert!(DVec3::from(ball.velocity).length() < 1e-5, "{ball:?}");
        // Each impact may shift the ball by a unit in the last place of its coordinates. With exactly rounded
        // divisions, as in lavapipe, the shift is 0, but Vulkan lets a GPU divide less exactly.
        let shift = DVec3::from(ball.center).distance(DVec3::new(place, 5.0, 5.0));
        assert!(shift < impacts as f64 * 1e-6, "{ball:?}");
    }
}

/// A wall that has crossed the cell 200 times is where it began, and hits a ball that is put into its way.
#[test]
fn a_wall_that_has_crossed_many_cells_hits_a_ball() {
    let wall = Wall::sphere([0.0, 5.0, 5.0], 1.0).with_velocity([2.0, 0.0, 0.0]);
    let rules = periodic(10.0).with_walls(Walls::from_iter([wall]));
    let options = SimulationBufferOptions::new(1).with_simulation(rules);
    let mut world = World::new(&[HardSphere::new([5.0, 5.0, 0.5], 0.5)], &options);
    let mut state = world.record(1000.0);
    for _ in 0..200 {
        if state.remaining > 0.0 {
            state = world.record(0.0);
        }
    }
    assert_eq!((state.remaining, state.wall_impacts), (0.0, 0), "{state:?}");
    let place = [5.0_f32; 3];
    (world.device.queue).write_buffer(&world.places, 0, bytemuck::cast_slice(&place));
    let state = world.advance(2.0);
    assert_eq!(state.wall_impacts, 1, "{state:?}");
    let ball = world.spheres()[0];
    // They touch after 1.75, and then the ball has twice the speed of the wall.
    let away = DVec3::from(ball.center).distance(DVec3::new(6.0, 5.0, 5.0));
    let speed = DVec3::from(ball.velocity).distance(DVec3::new(4.0, 0.0, 0.0));
    assert!(away < 1e-4 && speed < 1e-5, "{ball:?}");
}

/// Spheres that pass through each other fall in a hollow sphere and in a hollow cylinder. All their impacts are at the
/// wall.
#[test]
fn impacts_in_hollow_walls_are_at_the_wall() {
    let count = 200;
    let axis = [0.0, 0.0, 1.0];
    let cases = [
        (Wall::sphere_inside([5.0; 3], 7.0), DVec3::ONE),
        (
            Wall::cylinder_inside([5.0; 3], axis, 7.0),
            DVec3::new(1.0, 1.0, 0.0),
        ),
    ];
    for (wall, across) in cases {
        let mut rng = Rng::with_seed(1);
        let mut vector = || DVec3::from([0; 3].map(|_| 2.0 * rng.f64() - 1.0));
        let spheres: Vec<_> = (0..count)
            .map(|_| HardSphere::new(3.0 * vector() + 5.0, 0.5).with_velocity(2.0 * vector()))
            .collect();
        let rules = SimulationOptions::new()
            .with_walls(Walls::from_iter([wall]))
            .with_gravity([0.0, -30.0, 0.0])
            .with_impact_list();
        let options = SimulationBufferOptions::new(count)
            .with_candidates(count * count)
            .with_substeps(40)
            .with_impacts(20_000)
            .with_simulation(rules);
        let mut world = World::new(&spheres, &options);
        let ghost = Sphere::default().with_groups(1, 1).groups;
        world.groups = world.device.words(&vec![ghost; count as usize]);
        let (state, list) = world.advance_with_list(4.0);
        assert!(list.len() > 500, "{state:?}");
        for impact in &list {
            let away = ((DVec3::from(impact.point) - 5.0) * across).length();
            assert!((away - 7.0).abs() < 1e-3, "{impact:?}");
        }
    }
}

#[test]
fn a_ball_that_slides_along_a_hollow_wall_rolls_few_substeps_back() {
    // The path of a sphere in a substep has room for eight impacts. The first ball has one impact after another. The
    // other balls are at rest.
    for count in [1, 20] {
        let resting = (1..count).map(|k| HardSphere::new([f64::from(k) / 8.0, 0.0, 0.0], 0.05));
        let sliding = HardSphere::new([0.0, 6.5, 0.0], 0.5).with_velocity([0.0, 0.0, 5.0]);
        let spheres: Vec<_> = std::iter::once(sliding).chain(resting).collect();
        let wall = Wall::sphere_inside([0.0; 3], 7.0);
        let rules = SimulationOptions::new()
            .with_walls(Walls::from_iter([wall]))
            .with_wall_restitution(0.0)
            .with_contact_time(1e-3);
        let options = SimulationBufferOptions::new(count).with_simulation(rules);
        let mut world = World::new(&spheres, &options);
        let state = world.advance(0.25);
        println!("{state:?}");
        assert!(state.wall_impacts > 200, "{state:?}");
        assert!(state.rollbacks * 20 < state.substeps, "{state:?}");
        assert!(
            state.wall_impacts > u64::from(6 * state.substeps),
            "{state:?}"
        );
        let angle: f64 = 5.0 / 6.5 * 0.25;
        let wanted = DVec3::new(0.0, angle.cos(), angle.sin()) * 6.5;
        let ball = world.spheres()[0];
        assert!(
            DVec3::from(ball.center).distance(wanted) < 1e-3,
            "{ball:?} {wanted:?}"
        );
    }
}

#[test]
fn balls_that_slide_along_a_hollow_wall_far_from_the_origin_stay_inside() {
    let center = DVec3::splat(105.0);
    let mut rng = Rng::with_seed(3);
    let spheres: Vec<_> = (0..10_u8)
        .map(|k| {
            // The balls move at different heights, so they never meet.
            let (height, angle) = (1.1 * (f64::from(k) - 4.5), 6.0 * rng.f64());
            let around = DVec3::new(angle.cos(), 0.0, angle.sin());
            let place = center + around * 6.5 + DVec3::Y * height;
            HardSphere::new(place, 0.5).with_velocity(around.cross(DVec3::Y) * 2.0)
        })
        .collect();
    let wall = Wall::cylinder_inside(center.as_vec3(), [0.0, 1.0, 0.0], 7.0);
    let rules = SimulationOptions::new()
        .with_walls(Walls::from_iter([wall]))
        .with_wall_restitution(0.0)
        .with_contact_time(1e-3);
    let options = SimulationBufferOptions::new(10).with_simulation(rules);
    let mut world = World::new(&spheres, &options);
    let mut deepest = 0.0_f64;
    for _ in 0..20 {
        world.advance(0.1);
        for ball in world.spheres() {
            let across = (DVec3::from(ball.center) - center).with_y(0.0);
            deepest = deepest.max(across.length() - 6.5);
        }
    }
    // The limit is 10⁻⁶ radii plus 4 units in the last place of the coordinates.
    let unit = 2.0_f64.powi(-17);
    assert!(deepest < 0.5e-6 + 4.0 * unit, "{} units", deepest / unit);
}

#[test]
fn a_light_ball_between_a_wall_and_a_heavy_ball_has_314_impacts_at_once() {
    // The number of impacts has the digits of pi (G. Galperin, Regular and Chaotic Dynamics 8, 2003, 375-394). The
    // balls touch each other and the wall, so all impacts are at time 0.
    let light = HardSphere::new([0.5, 0.0, 0.0], 0.5);
    let heavy = HardSphere::new([1.5, 0.0, 0.0], 0.5)
        .with_velocity([-1.0, 0.0, 0.0])
        .with_mass(1e4);
    let wall = Wall::half_space([1.0, 0.0, 0.0], 0.0);
    // With the restitution 0.5, only the first impact is inelastic, because there is a contact time.
    for restitution in [1.0, 0.5] {
        let rules = SimulationOptions::new()
            .with_walls(Walls::from_iter([wall]))
            .with_restitution(restitution)
            .with_wall_restitution(restitution)
            .with_contact_time(0.01);
        let options = SimulationBufferOptions::new(2).with_simulation(rules);
        let mut world = World::new(&[light, heavy], &options);
        let state = world.advance(1.0);
        assert_eq!(all_impacts(&state), 314, "{state:?}");
        assert!((state.time - 1.0).abs() < 1e-6, "{state:?}");
        assert!(state.rollbacks == 0 && state.substeps < 70, "{state:?}");
        let spheres = world.spheres();
        // The reduced mass of the two balls is 1 / 1.0001.
        let lost = 0.5 / 1.0001 * (1.0 - restitution * restitution);
        let energy = energy(&spheres);
        assert!((energy + lost - 5000.0).abs() < 0.05, "{energy} {lost}");
        assert!((spheres[1].center[0] - 2.5).abs() < 1e-3, "{spheres:?}");
    }
}

#[test]
fn a_ball_with_more_impacts_than_others_ends_substeps_early_and_loses_no_impact() {
    // A ball moves to and fro between two fixed balls. In each substep, it has as many impacts as its path has room
    // for. The other balls are in a closed box.
    let mut spheres = random_spheres(24, 2, 1.0);
    let fixed = [30.0, 33.0].map(|x| HardSphere::new([x, 0.0, 0.0], 1.0).fixed());
    let ball = HardSphere::new([31.5, 0.0, 0.0], 0.375).with_velocity([20.0, 0.0, 0.0]);
    spheres.extend(fixed.into_iter().chain([ball]));
    let walls = with_mesh(Walls::new(), box_mesh([0.0; 3], [10.0; 3]));
    let rules = SimulationOptions::new().with_walls(walls);
    let state = assert_like_cpu(&spheres, &rules, 2.5, 2e-3);
    assert!(state.sphere_impacts > 200, "{state:?}");
    assert!(state.rollbacks * 20 < state.substeps, "{state:?}");
    assert!(
        state.sphere_impacts > u64::from(6 * state.substeps),
        "{state:?}"
    );
}

/// If the paths of all spheres do not fit into a storage buffer, they have room for four impacts each, and there are fewer
/// candidates. No impact is lost, and no more spheres fit.
#[test]
#[ignore = "it compiles all shaders for a device of its own"]
fn on_a_small_device_paths_and_candidates_have_less_room() {
    let limits = || wgpu::Limits {
        max_storage_buffer_binding_size: 1 << 20,
        ..wgpu::Limits::default()
    };
    let mut spheres = random_spheres(24, 2, 1.0);
    let fixed = [30.0, 33.0].map(|x| HardSphere::new([x, 0.0, 0.0], 1.0).fixed());
    let ball = HardSphere::new([31.5, 0.0, 0.0], 0.375).with_velocity([20.0, 0.0, 0.0]);
    spheres.extend(fixed.into_iter().chain([ball]));
    let rules = SimulationOptions::new();
    // Eight impacts of each of 8000 spheres take 2 MB.
    let options = SimulationBufferOptions::new(8000).with_simulation(rules.clone());
    let device = Device::with_limits(limits());
    let mut world = World::on(device, &spheres, &options.clone().with_impacts(4000));
    let mut simulation =
        Simulation::new(world.spheres(), rules.with_impact_list()).expect("a simulation");
    let (state, found) = world.advance_with_list(2.5);
    let report = simulation.step(2.5).expect("a step");
    assert_same_impacts(&found, &report.impacts, &simulation, 2e-3);
    assert!(state.sphere_impacts > 200, "{state:?}");
    // The ball has as many impacts in a substep as its path has room for.
    let most = u64::from(4 * state.substeps);
    assert!(state.sphere_impacts > most * 3 / 4, "{state:?}");
    assert!(state.sphere_impacts < most + 50, "{state:?}");
    let pipeline = world.device.pipeline();
    let more = pipeline.create_simulation(&SimulationBufferOptions::new(8200));
    let problem = more.expect_err("the paths take too much").to_string();
    assert!(problem.contains("paths of the spheres"), "{problem}");
}

#[test]
fn a_piston_pushes_a_ball() {
    let ball = HardSphere::new([5.0; 3], 0.5);
    let piston = Wall::half_space([1.0, 0.0, 0.0], 0.0).with_velocity([2.0, 0.0, 0.0]);
    let rules = SimulationOptions::new().with_walls(Walls::from_iter([piston]));
    let options = SimulationBufferOptions::new(1).with_simulation(rules);
    let mut world = World::new(&[ball], &options);
    let state = world.advance(3.0);
    let moved = world.spheres()[0];
    assert_eq!((state.sphere_impacts, state.wall_impacts), (0, 1));
    assert_eq!(moved.velocity, [4.0, 0.0, 0.0]);
    // The piston reaches the ball at time 2.25.
    assert!((moved.center[0] - 8.0).abs() < 1e-5, "{moved:?}");
}

/// A moving wall or mesh hits a small ball in front of it after it has moved by a hundred thousand
/// units of length. If this displacement were rounded to float32, the error could be larger than
/// the gap to the ball.
#[test]
fn walls_that_have_moved_far_in_a_periodic_domain_lose_no_impact() {
    let edge = 7.3_f32;
    let [start, speed] = [-80.0 * edge, 1.9_f32];
    let corners = vec![[start, 1.0, 2.0], [start, 5.0, 2.0], [start, 3.0, 6.0]];
    let plate = Mesh::new(corners, vec![[0, 1, 2]]).expect("a mesh");
    let plate = plate.with_velocity([speed, 0.0, 0.0]);
    let ball = Wall::sphere([start, 3.0, 3.0], 1.0).with_velocity([speed, 0.0, 0.0]);
    let [radius, gap] = [1.0 / 512.0, 1.0 / 1024.0];
    for (walls, thickness) in [
        (with_mesh(Walls::new(), plate), 0.0),
        (Walls::from_iter([ball]), 1.0),
    ] {
        let rules = periodic(edge.into()).with_walls(walls).with_impact_list();
        let options = SimulationBufferOptions::new(1).with_simulation(rules);
        // A sphere of infinite mass passes through walls. So this sphere has no impacts while the
        // walls move for a long time.
        let fixed = HardSphere::new([3.0; 3], radius).fixed();
        let mut world = World::new(&[fixed], &options);
        let mut state = world.advance(60_000.0);
        for _ in 0..4 {
            let moved = f64::from(start) + f64::from(speed) * state.time;
            let front = moved + thickness + radius + gap;
            let place = front.rem_euclid(edge.into()) as f32;
            let gap = gap + (f64::from(place) - front.rem_euclid(edge.into()));
            let target = HardSphere::new([place.into(), 3.0, 3.0], radius);
            let words = |four: [f64; 4]| four.map(|x| (x as f32).to_bits());
            let [x, y, z] = target.center;
            world.places = world.device.words(&words([x, y, z, radius]));
            world.motions = world.device.words(&words([0.0, 0.0, 0.0, 1.0]));
            let (after, list) = world.advance_with_list(1.0);
            let times: Vec<_> = list.iter().map(|impact| impact.time - state.time).collect();
            assert!(
                matches!(times[..], [time] if (time - gap / f64::from(speed)).abs() < 1e-4),
                "{times:?} {state:?}"
            );
            world.motions = world.device.words(&[0; 4]);
            state = world.advance(7001.3);
            assert!(state.time > after.time + 7001.0, "{state:?}");
        }
    }
}
