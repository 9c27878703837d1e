//! Tests of rest and of contacts that last.

use carom::gpu::{SimulationBufferOptions, SimulationState};
use carom::{HardSphere, Mesh, Simulation, SimulationOptions, Wall, Walls};
use fastrand::Rng;
use glam::DVec3;

use crate::digits::oblique_axes;
use crate::like_cpu::{cube, wall_impulses, with_mesh};
use crate::world::{World, all_impacts, buffers, under_gravity};

#[test]
fn overlapping_spheres_of_one_body_do_not_shorten_the_substeps() {
    let balls: Vec<_> = (0..60)
        .map(|k| {
            HardSphere::new([0.01 * f64::from(k), 0.0, 0.0], 1.0).with_velocity([1.0, 0.0, 0.0])
        })
        .collect();
    let rules = SimulationOptions::new().with_bodies(vec![Some(u32::MAX); 60]);
    let options = SimulationBufferOptions::new(60)
        .with_candidates(60 * 59 / 2)
        .with_simulation(rules);
    let mut world = World::new(&balls, &options);
    let state = world.advance(10.0);
    // The first substep takes 0.1, and each further one twice as long as the one before.
    assert!(state.substeps <= 8, "{state:?}");
    assert_eq!((state.sphere_impacts, state.rollbacks), (0, 0), "{state:?}");
    for (ball, given) in world.spheres().iter().zip(&balls) {
        assert!(
            (ball.center[0] - given.center[0] - 10.0).abs() < 1e-4,
            "{ball:?}"
        );
    }
}

/// Two balls hit a fixed sphere, the second one within the contact time after the first. The fixed sphere reflects both
/// with the given restitution, as a wall would.
#[test]
fn a_fixed_sphere_does_not_make_the_impacts_of_others_elastic() {
    let ball = |x: f64, v: f64| HardSphere::new([x, 0.0, 0.0], 0.5).with_velocity([v, 0.0, 0.0]);
    let fixed = HardSphere::new([0.0; 3], 1.0).fixed();
    let spheres = [ball(-2.5, 1.0), fixed, ball(2.75, -1.0)];
    let rules = SimulationOptions::new()
        .with_restitution(0.5)
        .with_contact_time(1.0);
    for steps in [1, 8] {
        let options = SimulationBufferOptions::new(3).with_simulation(rules.clone());
        let mut world = World::new(&spheres, &options);
        for _ in 0..steps {
            world.advance(2.0 / steps as f32);
        }
        for (sphere, expected) in world.spheres().iter().zip([-0.5, 0.0, 0.5]) {
            let speed = sphere.velocity[0];
            assert!((speed - expected).abs() < 1e-6, "{speed} in {steps} steps");
        }
    }
}

/// After an impact without restitution, a sphere slides along a wall, or moves together with another
/// sphere. It must not hit this wall or sphere again.
#[test]
fn bodies_that_stay_in_contact_have_one_impact() {
    let [normal, along, across] = oblique_axes();
    let single = |x: DVec3| x.as_vec3().to_array();
    let far = along * 100.0;
    let corners = [
        across * 900.0,
        along * 900.0 - across * 900.0,
        -along * 900.0 - across * 900.0,
    ];
    let mesh = Mesh::new(corners.map(single).to_vec(), vec![[0, 1, 2]]).expect("a plate");
    for walls in [
        Walls::from_iter([Wall::half_space(single(normal), 0.0)]),
        with_mesh(Walls::new(), mesh),
    ] {
        let mut rng = Rng::with_seed(4);
        let mut spheres = Vec::new();
        for k in 0..30 {
            // A sphere that falls onto the wall, and far above it two spheres, the first of which
            // catches up with the second.
            let place = far + along * (4.0 * f64::from(k)) + normal * 0.6;
            let sideways = (across + along * 1e-3) * rng.f64();
            let falling = sideways - normal * (0.25 + rng.f64());
            spheres.push(HardSphere::new(place, 0.5).with_velocity(falling));
            let aside = normal * (0.5 * f64::from(k % 2));
            for (above, speed) in [
                (normal * 10.0, 1.5),
                (normal * 10.0 + across * 1.2 + aside, 1.0),
            ] {
                spheres.push(HardSphere::new(place + above, 0.5).with_velocity(across * speed));
            }
        }
        let rules = SimulationOptions::new()
            .with_walls(walls)
            .with_restitution(0.0)
            .with_wall_restitution(0.0);
        let options = SimulationBufferOptions::new(90).with_simulation(rules);
        let mut world = World::new(&spheres, &options);
        for _ in 0..30 {
            let state = world.advance(1.0);
            assert!(
                state.sphere_impacts <= 30 && state.wall_impacts <= 30,
                "{state:?}"
            );
        }
        let state = world.record(0.0);
        assert_eq!(
            (state.sphere_impacts, state.wall_impacts),
            (30, 30),
            "{state:?}"
        );
        for ball in world.spheres().iter().step_by(3) {
            let [height, rising] =
                [DVec3::from(ball.center), DVec3::from(ball.velocity)].map(|x| x.dot(normal));
            assert!(
                (height - 0.5).abs() < 1e-3 && rising.abs() < 1e-5,
                "{ball:?}"
            );
        }
    }
}

#[test]
fn an_inelastic_ball_comes_to_rest_on_a_floor() {
    let ball = HardSphere::new([5.0, 5.0, 1.5], 0.5);
    let rules = SimulationOptions::new()
        .with_walls(cube())
        .with_gravity([0.0, 0.0, -10.0])
        .with_wall_restitution(0.5)
        .with_contact_time(0.01);
    let options = SimulationBufferOptions::new(1).with_simulation(rules);
    let mut world = World::new(&[ball], &options);
    let state = world.advance(2.0);
    let ball = world.spheres()[0];
    // The ball hits the floor at the speeds √20, √20/2, … The seventh is below 0.1, gravity times the contact time.
    assert_eq!(state.wall_impacts, 7, "{state:?}");
    assert!((ball.center[2] - 0.5).abs() < 1e-5, "{ball:?}");
    assert_eq!(DVec3::from(ball.velocity), DVec3::ZERO);
}

/// A ball slides on the floor between two walls. The jumps with which it lies on the floor do not make its other impacts
/// elastic: each hit takes away half of its speed. A ball without restitution that falls on it does not return.
#[test]
fn a_floor_does_not_make_other_impacts_elastic() {
    for contact_time in [5e-3, 2e-2] {
        let ball = HardSphere::new([5.0, 5.0, 1.0], 1.0).with_velocity([8.0, 0.0, 0.0]);
        let rules = SimulationOptions::new()
            .with_walls(cube())
            .with_gravity([0.0, 0.0, -9.8])
            .with_wall_restitution(0.5)
            .with_contact_time(contact_time);
        let options = SimulationBufferOptions::new(1).with_simulation(rules);
        let mut world = World::new(&[ball], &options);
        // The hits are at the times 0.5, 2.5 and 6.5.
        let state = world.advance(7.0);
        assert!(state.time > 6.99, "{state:?}");
        let after = world.spheres()[0];
        assert!((after.velocity[0].abs() - 1.0).abs() < 1e-3, "{after:?}");
    }
    let balls = [1.0, 5.0].map(|z| HardSphere::new([5.0, 5.0, z], 1.0));
    let rules = SimulationOptions::new()
        .with_walls(cube())
        .with_gravity([0.0, 0.0, -9.8])
        .with_wall_restitution(0.0)
        .with_restitution(0.0)
        .with_contact_time(1e-2);
    let options = SimulationBufferOptions::new(2).with_simulation(rules);
    let mut world = World::new(&balls, &options);
    for _ in 0..8 {
        world.advance(0.25);
        let upper = world.spheres()[1];
        assert!(upper.velocity[2] < 1.0, "{upper:?}");
    }
    assert!((world.spheres()[1].center[2] - 3.0).abs() < 0.05);
}

/// What a pile does, frame by frame: the numbers of substeps and impacts in each frame of 1/60, and at the end the state,
/// the force on all walls along gravity in the last half second, divided by the weight, and the spheres.
struct Pile {
    substeps: Vec<u64>,
    impacts: Vec<u64>,
    state: SimulationState,
    force: f64,
    spheres: Vec<HardSphere>,
}

/// Spheres under gravity along y, in a box that is open above, or discs.
fn settled(spheres: &[HardSphere], options: &SimulationBufferOptions, frames: usize) -> Pile {
    let mut world = World::new(spheres, options);
    let (mut substeps, mut impacts) = (Vec::new(), Vec::new());
    let mut state = SimulationState::default();
    let down = |world: &World| -> f64 { wall_impulses(world).iter().map(|sum| -sum.y).sum() };
    let mut before = 0.0;
    for frame in 0..frames {
        if frame + 30 == frames {
            before = down(&world);
        }
        let next = world.advance(1.0 / 60.0);
        substeps.push(u64::from(
            next.substeps + next.rollbacks - state.substeps - state.rollbacks,
        ));
        impacts.push(all_impacts(&next) - all_impacts(&state));
        state = next;
    }
    let weight: f64 = spheres.iter().map(|ball| ball.mass * 9.8).sum();
    Pile {
        substeps,
        impacts,
        state,
        force: (down(&world) - before) / (0.5 * weight),
        spheres: world.spheres(),
    }
}

/// Returns the floor y = `floor` and walls at the distance `width`, without those along z for discs.
fn open_box(floor: f32, width: f32, discs: bool) -> Walls {
    let faces = [
        ([0.0, 1.0, 0.0], floor),
        ([1.0, 0.0, 0.0], 0.0),
        ([-1.0, 0.0, 0.0], -width),
        ([0.0, 0.0, 1.0], 0.0),
        ([0.0, 0.0, -1.0], -width),
    ];
    let faces = faces.into_iter().take(if discs { 3 } else { 5 });
    let faces = faces.map(|(normal, offset)| Wall::half_space(normal, offset));
    faces.collect()
}

/// The floor under a column of balls that touch bears its weight, every ball stays where it is, and a frame takes one
/// substep without impacts. It is the same if all sweeps are one dispatch, and if each is one of its own.
#[test]
fn the_floor_bears_the_weight_of_a_column() {
    for (count, room, contact_time) in [(1, 1, 1e-3), (8, 8, 1e-2), (8, 5000, 1e-3)] {
        let column: Vec<_> = (0..count)
            .map(|k| HardSphere::new([0.5, f64::from(k) + 0.5, 0.5], 0.5).with_mass(2.0))
            .collect();
        let rules = under_gravity(open_box(0.0, 1.0, false), [0.2; 2], contact_time);
        let pile = settled(&column, &buffers(room, &rules), 90);
        assert!((pile.force - 1.0).abs() < 1e-4, "{count}: {}", pile.force);
        assert_eq!(pile.state.kinetic_energy, 0.0, "{count}");
        assert_eq!(pile.impacts[60..].iter().sum::<u64>(), 0, "{count}");
        assert_eq!(pile.substeps[60..].iter().sum::<u64>(), 30, "{count}");
        for (ball, start) in pile.spheres.iter().zip(&column) {
            let moved = DVec3::from(ball.center).distance(start.center.into());
            assert!(moved < 1e-4, "{count}: {moved}");
        }
    }
}

/// Elastic balls that lie on a floor at the start stay there, and bounce for ever if they fall, also if all their impacts
/// are slow.
#[test]
fn elastic_balls_rest_only_if_they_do_not_fall() {
    let ball = |x: f64, height: f64| HardSphere::new([x, 0.5 + height, 0.0], 0.5);
    let balls = [ball(1.0, 0.0), ball(3.0, 1.0), ball(5.0, 1e-4)];
    let rules = under_gravity(open_box(0.0, 10.0, true), [1.0; 2], 1e-2);
    let pile = settled(&balls, &buffers(3, &rules), 60);
    assert_eq!(DVec3::from(pile.spheres[0].velocity), DVec3::ZERO);
    for (ball, start) in pile.spheres.iter().zip(&balls) {
        let energy = ball.kinetic_energy() + 9.8 * (ball.center[1] - 0.5);
        let before = 9.8 * (start.center[1] - 0.5);
        assert!(
            (energy - before).abs() <= 1e-2 * before,
            "{energy} {before}"
        );
    }
}

/// A pile of balls comes to rest. No frame takes many times more than the others, nothing sinks, and the floor bears the
/// weight. On the CPU, the pile stays as it is.
#[test]
fn a_pile_comes_to_rest() {
    let mut rng = Rng::with_seed(1);
    let balls: Vec<_> = (0..18)
        .map(|k| {
            let [x, z] = [k % 3, k / 3 % 3].map(|k| 0.55 + 1.2 * f64::from(k) + 0.1 * rng.f64());
            HardSphere::new([x, 0.55 + 1.2 * f64::from(k / 9), z], 0.5)
        })
        .collect();
    let rules = under_gravity(open_box(0.0, 4.0, false), [0.1; 2], 1e-3);
    let pile = settled(&balls, &buffers(balls.len(), &rules), 300);
    let mut sorted = pile.substeps.clone();
    sorted.sort_unstable();
    let most = *sorted.last().expect("frames");
    assert!(most <= 50 * sorted[150].max(2), "{most} substeps");
    let most = *pile.impacts.iter().max().expect("frames");
    assert!(most <= 50 * balls.len() as u64, "{most} impacts");
    let energy = pile.state.kinetic_energy / balls.len() as f64;
    assert!(energy < 1e-4, "{energy}");
    assert!((pile.force - 1.0).abs() < 0.02, "{}", pile.force);
    for (k, ball) in pile.spheres.iter().enumerate() {
        assert!(ball.center[1] - 0.5 > -1e-3, "{ball:?}");
        for other in &pile.spheres[..k] {
            let away = DVec3::from(ball.center).distance(other.center.into());
            assert!(away > 1.0 - 1e-3, "{away}");
        }
    }
    let height = |spheres: &[HardSphere]| -> f64 {
        let heights = spheres.iter().map(|ball| ball.center[1]);
        heights.sum::<f64>() / spheres.len() as f64
    };
    let before = height(&pile.spheres);
    let mut again = Simulation::new(pile.spheres, rules).expect("a simulation");
    for _ in 0..60 {
        again.step(1.0 / 60.0).expect("a step");
    }
    let after = height(again.spheres());
    assert!((after - before).abs() < 0.01, "{before} {after}");
}

/// The ball below is knocked out, and the one on it falls at once.
#[test]
fn a_ball_falls_when_its_support_is_knocked_away() {
    let balls = [
        HardSphere::new([50.0, 0.5, 0.0], 0.5),
        HardSphere::new([50.0, 1.5, 0.0], 0.5),
        HardSphere::new([10.0, 0.5, 0.0], 0.5).with_velocity([39.0, 0.0, 0.0]),
    ];
    for frames in [1, 75] {
        let rules = under_gravity(open_box(0.0, 100.0, true), [1.0, 0.0], 1e-3);
        let mut world = World::new(&balls, &buffers(3, &rules));
        for _ in 0..frames {
            world.advance(1.25 / frames as f32);
        }
        // The ball comes at time 1. Without it, the upper ball falls by g/2·0.25² = 0.306.
        let y = world.spheres()[1].center[1];
        assert!(
            (y - (1.5 - 0.5 * 9.8 * 0.0625)).abs() < 0.03,
            "{frames}: {y}"
        );
    }
}
