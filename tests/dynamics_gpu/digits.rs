//! Tests that rounding errors stay small.

use carom::gpu::{SimulationBufferOptions, SimulationState, SimulationStatus};
use carom::{Domain, HardSphere, Mesh, Simulation, SimulationOptions, Sphere, Wall, Walls};
use fastrand::Rng;
use glam::DVec3;

use crate::like_cpu::{assert_like_cpu, cube, with_mesh};
use crate::meshes::box_mesh;
use crate::world::{World, all_impacts, energy};

#[test]
fn impacts_on_a_line_happen_in_their_order_for_a_long_time() {
    // A cradle: a moving ball hits the first of four balls at rest in a row, in which each ball
    // touches the next.
    let mut balls: Vec<_> = (0..5)
        .map(|k| HardSphere::new([f64::from(k), 0.0, 0.0], 0.5))
        .collect();
    balls[0] = HardSphere::new([-2.0, 0.0, 0.0], 0.5).with_velocity([1.0, 0.0, 0.0]);
    let options = SimulationBufferOptions::new(5);
    let mut world = World::new(&balls, &options);
    let state = world.advance(3.0);
    assert_eq!(state.sphere_impacts, 4);
    let speeds: Vec<_> = world
        .spheres()
        .iter()
        .map(|ball| ball.velocity[0])
        .collect();
    assert_eq!(speeds, [0.0, 0.0, 0.0, 0.0, 1.0]);
    // Two balls of different masses between two walls.
    let balls = [
        HardSphere::new([2.0, 5.0, 5.0], 0.5).with_velocity([1.0, 0.0, 0.0]),
        HardSphere::new([7.0, 5.0, 5.0], 1.0)
            .with_velocity([-0.75, 0.0, 0.0])
            .with_mass(3.0),
    ];
    let rules = SimulationOptions::new().with_walls(cube());
    let state = assert_like_cpu(&balls, &rules, 200.0, 5e-3);
    assert!(all_impacts(&state) > 60, "{state:?}");
}

/// Returns three perpendicular unit vectors in oblique directions.
pub(crate) fn oblique_axes() -> [DVec3; 3] {
    let a = DVec3::new(0.3, -0.5, 0.8).normalize();
    let b = a.cross(DVec3::new(0.7, 0.2, -0.4)).normalize();
    [a, b, a.cross(b)]
}

/// A light ball bounces off a heavy one. Its impulse has most digits of float32, although the velocity of the heavy
/// ball hardly changes.
#[test]
fn impulses_and_the_virial_have_their_digits_beside_a_heavy_ball() {
    let heavy = HardSphere::new([0.0; 3], 1.0)
        .with_velocity([1.0, 0.5, 0.25])
        .with_mass(1e6);
    let light = HardSphere::new([4.0, 0.5, 0.0], 0.5).with_velocity([-1.0, 0.0, 0.0]);
    for balls in [[heavy, light], [light, heavy]] {
        let rules = SimulationOptions::new().with_impact_list();
        let options = SimulationBufferOptions::new(2)
            .with_impacts(8)
            .with_simulation(rules.clone());
        let mut world = World::new(&balls, &options);
        let (state, list) = world.advance_with_list(4.0);
        let mut simulation = Simulation::new(balls.to_vec(), rules).expect("a simulation");
        let report = simulation.step(4.0).expect("a step");
        let [one, other] = [
            DVec3::from(list[0].impulse),
            DVec3::from(report.impacts[0].impulse),
        ];
        assert!(one.distance(other) < 1e-5, "{one} {other}");
        let change = state.virial / report.virial - 1.0;
        assert!(change.abs() < 1e-5, "{change}");
    }
}

/// Many elastic spheres bounce in containers of all kinds. They pass through each other, so each sphere must keep its
/// own energy. A rounding error of the energy that has the same sign in every impact would show in the mean over all
/// spheres.
#[test]
fn the_energy_of_spheres_does_not_drift_at_oblique_walls() {
    let axes = oblique_axes();
    let single = |x: DVec3| x.as_vec3().to_array();
    // The axis of the cylinder is given by this float32 vector.
    let axis = single(axes[0]);
    let exact_axis = DVec3::from(axis.map(f64::from)).normalize();
    let far = exact_axis * 100.0;
    let planes = axes.into_iter().flat_map(|axis| [axis, -axis]);
    let planes = planes.map(|normal| Wall::half_space(single(normal), -1.5));
    let cube = box_mesh([-1.5; 3], [1.5; 3]);
    let turned = cube.vertices().iter().map(|corner| {
        let [x, y, z] = corner.map(f64::from);
        single(axes[0] * x + axes[1] * y + axes[2] * z)
    });
    let turned = Mesh::new(turned.collect(), cube.triangles().to_vec()).expect("a box");
    // Each case has walls, and the middle of the places of the spheres.
    let cases = [
        (
            Walls::from_iter([Wall::cylinder_inside([0.0; 3], axis, 1.5)]),
            far,
        ),
        (
            Walls::from_iter([Wall::sphere_inside(single(far), 1.5)]),
            far,
        ),
        (planes.collect(), DVec3::ZERO),
        (with_mesh(Walls::new(), turned), DVec3::ZERO),
    ];
    let count = 200;
    for (case, (walls, middle)) in cases.into_iter().enumerate() {
        let mut rng = Rng::with_seed(case as u64);
        let mut vector = || DVec3::from([0; 3].map(|_| 2.0 * rng.f64() - 1.0));
        let spheres: Vec<_> = (0..count)
            .map(|_| HardSphere::new(middle + 0.5 * vector(), 0.5).with_velocity(vector()))
            .collect();
        // With this contact time, the hollow walls turn spheres that approach them at a small angle.
        let rules = SimulationOptions::new()
            .with_walls(walls)
            .with_contact_time(2.0);
        let options = SimulationBufferOptions::new(count)
            .with_candidates(count * count)
            .with_substeps(8)
            .with_simulation(rules);
        let mut world = World::new(&spheres, &options);
        let ghost = Sphere::default().with_groups(1, 1).groups;
        world.groups = world.device.words(&vec![ghost; count as usize]);
        let given = world.spheres();
        let mut state = SimulationState::default();
        while state.wall_impacts < 30 * u64::from(count) {
            state = world.advance(4.0);
        }
        let after = world.spheres();
        let both = || given.iter().zip(&after);
        let changes =
            both().map(|(one, other)| other.kinetic_energy() / one.kinetic_energy() - 1.0);
        let changes: Vec<_> = changes.collect();
        let mean = changes.iter().sum::<f64>() / f64::from(count);
        let square = changes.iter().map(|x| x * x).sum::<f64>() / f64::from(count);
        println!(
            "{case}: mean {mean:.1e}, typical {:.1e}, {state:?}",
            square.sqrt()
        );
        // Rounding errors of random signs, of some 2e-7 in each impact, change the energy of a sphere by some 1e-6 in
        // 30 impacts.
        assert!(mean.abs() < 5e-7 && square.sqrt() < 3e-6, "{case}: {mean}");
        if case == 0 {
            // The wall of a cylinder never pushes along its axis.
            for (one, other) in both() {
                let pushed =
                    (DVec3::from(other.velocity) - DVec3::from(one.velocity)).dot(exact_axis);
                assert!(pushed.abs() < 2e-5, "{pushed} {one:?} {other:?}");
            }
        }
    }
}

/// Light elastic spheres bounce between a heavy sphere and a hollow wall around it, and pass through each other. The sum
/// of the inverse masses of a light and the heavy sphere lies nearly halfway between two float32 numbers, so its
/// rounding error is nearly as large as possible. If all impacts had this error, the energy would change by some 2e-6.
#[test]
fn the_energy_of_light_spheres_does_not_drift_at_a_heavy_sphere() {
    let count = 200;
    let heavy = HardSphere::new([0.0; 3], 0.5).with_mass(8385.0);
    let mut rng = Rng::with_seed(1);
    let mut vector = || DVec3::from([0; 3].map(|_| 2.0 * rng.f64() - 1.0));
    let light = (0..count).map(|_| {
        let place = vector().normalize();
        HardSphere::new(place, 0.125).with_velocity(vector().normalize())
    });
    let spheres: Vec<_> = light.chain([heavy]).collect();
    let wall = Wall::sphere_inside([0.0; 3], 1.5);
    let rules = SimulationOptions::new().with_walls(Walls::from_iter([wall]));
    let options = SimulationBufferOptions::new(count + 1)
        .with_candidates(count * count)
        .with_substeps(8)
        .with_simulation(rules);
    let mut world = World::new(&spheres, &options);
    let ghost = Sphere::default().with_groups(1, 1).groups;
    let mut groups = vec![ghost; count as usize];
    groups.push(0);
    world.groups = world.device.words(&groups);
    let before = energy(&world.spheres());
    let mut state = SimulationState::default();
    while state.sphere_impacts < 15 * u64::from(count) {
        state = world.advance(2.0);
    }
    let change = energy(&world.spheres()) / before - 1.0;
    println!("{change:.1e} {state:?}");
    assert!(change.abs() < 1.2e-6, "{change}");
}

#[test]
fn rounding_errors_of_positions_do_not_add_up() {
    // In each recording, the first ball moves by a tenth of a unit in the last place of its coordinate. The second ball
    // is as slow. It leaves the cell through one face and enters through the opposite one. The third ball is at rest.
    // The application moves the fourth ball to a new place after each recording, so its earlier motion does not count.
    let unit = 2.0_f64.powi(-13);
    let slow = DVec3::X * (0.1 * unit);
    let at = |place: [f64; 3]| HardSphere::new(place, 1.0).with_velocity(slow);
    let balls = [
        at([1100.0, 1000.0, 1000.0]),
        at([1500.0 - unit, 1000.0, 1000.0]),
        at([1200.0, 1200.0, 1000.0]).with_velocity(DVec3::ZERO),
        at([1100.0, 1200.0, 1000.0]),
    ];
    let domain = Domain::rectangular([500.0; 3], [1000.0; 3]);
    for (rules, edge) in [
        (SimulationOptions::new(), 0.0),
        (SimulationOptions::new().with_domain(domain), 1000.0),
    ] {
        let options = SimulationBufferOptions::new(4).with_simulation(rules);
        let mut world = World::new(&balls, &options);
        for k in 0..100_u16 {
            let state = world.advance(1.0);
            assert_eq!(state.rollbacks, 0, "{state:?}");
            let moved = world.spheres();
            let wanted = [
                DVec3::from(balls[0].center) + slow * f64::from(k + 1),
                DVec3::from(balls[1].center) + slow * f64::from(k + 1)
                    - DVec3::X * if k < 9 { 0.0 } else { edge },
                DVec3::from(balls[2].center),
            ];
            for (ball, wanted) in moved.iter().zip(wanted) {
                let mut error = DVec3::from(ball.center) - wanted;
                error.x -= (error.x / 1000.0).round() * edge;
                assert!(error.length() < 0.51 * unit, "{k} {ball:?} {wanted:?}");
            }
            assert_eq!(moved[3].center[0], 1100.0 + f64::from(k % 2), "{k}");
            let place = [1100.0 + f64::from((k + 1) % 2), 1200.0, 1000.0, 1.0];
            let words = place.map(|x| (x as f32).to_bits());
            (world.device.queue).write_buffer(&world.places, 48, bytemuck::cast_slice(&words));
        }
    }
}

#[test]
fn tiny_distances_between_centers_are_no_problem() {
    // The square of this distance is 0 in float32.
    let tiny = DVec3::X * 1e-30;
    let ball = |center| HardSphere::new(center, 1.0);
    // Two balls with nearly the same centre exchange their velocities, and separate.
    let pair = [
        ball(DVec3::ZERO).with_velocity([0.5, 0.0, 0.0]),
        ball(tiny).with_velocity([-0.5, 0.0, 0.0]),
    ];
    let mut world = World::new(&pair, &SimulationBufferOptions::new(2));
    let state = world.advance(4.0);
    assert_eq!(
        (state.sphere_impacts, state.status),
        (1, SimulationStatus::empty())
    );
    let after = world.spheres();
    let places = after.iter().map(|ball| DVec3::from(ball.center));
    assert_eq!(
        places.collect::<Vec<_>>(),
        [DVec3::X * -2.0, DVec3::X * 2.0]
    );

    // The centre of a ball is almost on the axis of a solid cylinder. The ball leaves the cylinder.
    let rules = SimulationOptions::new().with_walls(Walls::from_iter([Wall::cylinder(
        [0.0; 3],
        [0.0, 1.0, 0.0],
        1.0,
    )]));
    let options = SimulationBufferOptions::new(1).with_simulation(rules);
    let mut world = World::new(&[ball(tiny).with_velocity([-1.0, 3.0, 4.0])], &options);
    let state = world.advance(1.0);
    assert_eq!(
        (state.wall_impacts, state.status),
        (1, SimulationStatus::empty())
    );
    assert_eq!(world.spheres()[0].center, [1.0, 3.0, 4.0]);

    // A ball that fits exactly into a hollow wall stays there.
    for wall in [
        Wall::cylinder_inside([0.0; 3], [0.0, 1.0, 0.0], 1.0),
        Wall::sphere_inside([0.0; 3], 1.0),
    ] {
        let rules = SimulationOptions::new()
            .with_walls(Walls::from_iter([wall]))
            .with_wall_restitution(0.0)
            .with_contact_time(0.1);
        let options = SimulationBufferOptions::new(1).with_simulation(rules);
        let mut world = World::new(&[ball(tiny).with_velocity([0.3, 0.0, 0.1])], &options);
        for _ in 0..4 {
            // There is no room at all, so time hardly goes on, and the state says why.
            let state = world.record(1.0);
            let expected = SimulationStatus::COLLAPSE | SimulationStatus::BEHIND;
            assert_eq!(state.status, expected, "{state:?}");
            assert!(state.time < 1e-7, "{state:?}");
        }
        let after = world.spheres()[0];
        assert!(DVec3::from(after.center).length() < 1e-6, "{after:?}");
        assert!(DVec3::from(after.velocity).length() < 1.0, "{after:?}");
    }
}

#[test]
fn no_simulated_time_is_lost_in_short_substeps() {
    // A ball moves to and fro between two fixed balls that nearly touch it. The substeps are far shorter than the
    // rounding error of the remaining time.
    let ball = |x: f64| HardSphere::new([x, 0.0, 0.0], 0.5);
    let gap = 1e-5;
    let balls = [
        ball(-1.0 - gap).fixed(),
        ball(0.0).with_velocity([1.0, 0.0, 0.0]),
        ball(1.0 + gap).fixed(),
    ];
    let mut world = World::new(&balls, &SimulationBufferOptions::new(3));
    let mut requested = 0.0;
    for duration in [1e5, 0.0, 0.0, 0.1, 1e-3, 0.0, 7e4, 0.0] {
        requested += f64::from(duration);
        let state = world.record(duration);
        assert!(state.substeps > 0, "{state:?}");
        let reached = state.time + state.remaining;
        assert!(
            (reached - requested).abs() < 1e-8,
            "{reached} {requested} {state:?}"
        );
    }
}
