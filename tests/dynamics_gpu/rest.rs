//! Tests of rest and of contacts that last.

use carom::gpu::{SimulationBufferOptions, SimulationBuffers, SimulationState, SimulationStatus};
use carom::{Combine, Error, HardSphere, Mesh, Simulation, SimulationOptions, Wall, Walls};
use fastrand::Rng;
use glam::DVec3;

use crate::digits::oblique_axes;
use crate::like_cpu::{cube, wall_impulses, with_mesh};
use crate::meshes::box_mesh;
use crate::world::{World, all_impacts, buffers, momentum, overlap, under_gravity};

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
        let pile = settled(&column, &buffers(room, &rules), 60);
        assert!((pile.force - 1.0).abs() < 1e-4, "{count}: {}", pile.force);
        assert_eq!(pile.state.kinetic_energy, 0.0, "{count}");
        assert_eq!(pile.impacts[30..].iter().sum::<u64>(), 0, "{count}");
        assert_eq!(pile.substeps[30..].iter().sum::<u64>(), 30, "{count}");
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
    let pile = settled(&balls, &buffers(balls.len(), &rules), 270);
    let mut sorted = pile.substeps.clone();
    sorted.sort_unstable();
    let most = *sorted.last().expect("frames");
    assert!(most <= 50 * sorted[135].max(2), "{most} substeps");
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

/// What loses its support between two recordings falls on the floor and stays there, however long the next recording is,
/// and so does what rests on it.
#[test]
fn what_loses_its_support_falls_on_the_floor() {
    type Edit<'a> = &'a dyn Fn(&mut World);
    let edits: [(f64, Edit<'_>); 5] = [
        (0.0, &|world| {
            let aside = [5.0_f32, 0.1, 0.0];
            (world.device.queue).write_buffer(&world.places, 0, bytemuck::cast_slice(&aside));
        }),
        (0.0, &|world| {
            let groups = [1, 1_u32 << 16];
            (world.device.queue).write_buffer(&world.groups, 0, bytemuck::cast_slice(&groups));
        }),
        (0.0, &|world| {
            for ball in [0, 1] {
                world.buffers.set_body(ball, Some(9)).expect("a valid body");
            }
        }),
        (0.2, &|world| {
            world.buffers.set_wall_enabled(1, false).expect("a wall");
        }),
        (0.2, &|world| {
            let lower = |walls: &mut Walls| {
                walls.simple_mut()[1] = Wall::half_space([0.0, 1.0, 0.0], -1.0);
            };
            world.buffers.edit_walls(lower).expect("it is valid");
        }),
    ];
    for (k, (shelf, edit)) in edits.into_iter().enumerate() {
        let floors = [0.0, shelf as f32].map(|y| Wall::half_space([0.0, 1.0, 0.0], y));
        let rules = under_gravity(Walls::from_iter(floors), [0.0; 2], 1e-3);
        let rules = rules.with_bodies(vec![None; 3]);
        // Two balls on a pebble, or beside it on a shelf.
        let balls = [
            HardSphere::new([10.0 * shelf, 0.1 + shelf, 0.0], 0.1),
            HardSphere::new([0.0, 0.7, 0.0], 0.5),
            HardSphere::new([0.0, 1.7, 0.0], 0.5),
        ];
        let mut world = World::new(&balls, &buffers(3, &rules));
        for _ in 0..5 {
            world.advance(1.0);
        }
        assert!((world.spheres()[1].center[1] - 0.7).abs() < 1e-3, "{k}");
        edit(&mut world);
        world.advance(2.0);
        for (ball, height) in world.spheres()[1..].iter().zip([0.5, 1.5]) {
            assert!((ball.center[1] - height).abs() < 1e-2, "{k}: {ball:?}");
            assert!(ball.velocity[1].abs() < 1e-3, "{k}: {ball:?}");
        }
    }
}

/// What rests does not notice edits that set what is there already: the substeps are as long, and the numbers the same.
#[test]
fn edits_of_nothing_change_nothing() {
    fn far() -> Mesh {
        let corners = vec![[50.0, 0.0, 0.0], [51.0, 0.0, 0.0], [50.0, 0.0, 1.0]];
        Mesh::new(corners, vec![[0, 1, 2]]).expect("a mesh")
    }
    let columns = [0.0, 3.0].map(|x| [0.5, 1.5].map(|y| HardSphere::new([x, y, 0.0], 0.5)));
    let floor = Walls::from_iter([Wall::half_space([0.0, 1.0, 0.0], 0.0)]);
    let walls = with_mesh(floor, far());
    let rules = under_gravity(walls, [0.5; 2], 1e-3)
        .with_bodies(vec![None; 4])
        .with_restitutions(vec![0.5; 4], Combine::Average);
    type Edit = fn(&mut SimulationBuffers) -> Result<(), Error>;
    let edits: [Edit; 8] = [
        |rules| rules.set_gravity([0.0, -9.8, 0.0]),
        |rules| rules.set_restitution(0.5),
        |rules| rules.set_wall_restitution(0.5),
        |rules| rules.set_contact_time(1e-3),
        |rules| rules.set_restitution_of(1, 0.5),
        |rules| rules.set_body(1, None),
        |rules| rules.set_wall_enabled(0, true),
        |rules| rules.edit_walls(|walls| walls.meshes_mut()[0] = far()),
    ];
    let [expected, found] = [false, true].map(|is_edited| {
        let mut world = World::new(columns.as_flattened(), &buffers(4, &rules));
        let mut history = Vec::new();
        for edit in edits.iter().cycle().take(2 * edits.len()) {
            if is_edited {
                edit(&mut world.buffers).expect("it is valid");
            }
            history.push((world.advance(0.5), world.spheres()));
        }
        history
    });
    for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found, expected, "{k}");
    }
    assert_eq!(found[15].0.substeps - found[14].0.substeps, 1);
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
        let [_, v, _] = world.spheres()[1].velocity;
        let energy = 9.8 * y + 0.5 * v * v;
        println!("{frames}: energy {energy}");
        assert!((energy - 9.8 * 1.5).abs() < 1e-3, "{frames}: {energy}");
    }
}

/// Discs fill a row between two walls, at rest on the floor, and one more falls on each gap and wedges them. The row is
/// hit again and again within a contact time, and comes to rest in few substeps, however short the contact time.
#[test]
fn a_row_without_room_collapses_at_once() {
    let row = (0..6).map(|k| HardSphere::new([f64::from(k) + 0.5, 0.5, 0.0], 0.5));
    let above = (0..5).map(|k| {
        let ball = HardSphere::new([f64::from(k) + 1.0, 1.6, 0.0], 0.5);
        ball.with_velocity([0.0, -3.0 - 0.1 * f64::from(k), 0.0])
    });
    let discs: Vec<_> = row.chain(above).collect();
    for contact_time in [1e-5, 1e-3] {
        let rules = under_gravity(open_box(0.0, 6.0, true), [0.5; 2], contact_time);
        let pile = settled(&discs, &buffers(discs.len(), &rules), 60);
        let most = pile.substeps.iter().max().expect("frames");
        let impacts = pile.impacts.iter().max().expect("frames");
        println!(
            "{contact_time}: {most} {impacts} {} {:?}",
            pile.force, pile.state
        );
        assert!(*most <= 80, "{most} substeps in a frame");
        assert!(*impacts <= 120, "{impacts} impacts in a frame");
        let energy = pile.state.kinetic_energy;
        assert!(energy < 1e-4, "{contact_time}: {energy}");
        assert!((pile.force - 1.0).abs() < 0.02, "{}", pile.force);
    }
}

/// A ball hits a row of many that touch one another. The chain of impacts at one time is longer than the recorded rounds
/// permit, but time goes on, and no momentum is lost.
#[test]
fn a_chain_of_impacts_may_be_longer_than_the_rounds() {
    let row = (0..24).map(|k| HardSphere::new([f64::from(k), 0.0, 0.0], 0.5));
    let first = HardSphere::new([-2.0, 0.0, 0.0], 0.5).with_velocity([1.0, 0.0, 0.0]);
    let balls: Vec<_> = [first].into_iter().chain(row).collect();
    let rules = under_gravity(Walls::default(), [0.9; 2], 1e-3);
    for rounds in [1, 8] {
        let options = buffers(balls.len(), &rules).with_rounds(rounds);
        let mut world = World::new(&balls, &options);
        let state = world.advance(1.5);
        println!("{state:?}");
        assert!(state.substeps < 60, "{state:?}");
        assert!(state.sphere_impacts >= 24, "{state:?}");
        assert!((momentum(&world.spheres()).x - 1.0).abs() < 1e-4);
        let slowest = (world.spheres().iter().map(|ball| ball.velocity[0])).fold(1.0, f64::min);
        assert!(slowest > 0.01, "{slowest}");
    }
}

/// A ball slides from the top of a fixed one, and leaves it where its centre has fallen by a third of the distance of the
/// centres: there, gravity no longer holds it on its path.
#[test]
fn a_ball_leaves_the_ball_that_it_slides_down() {
    let reach = 1.5_f64;
    let tilt = 0.1_f64;
    let fixed = HardSphere::new([0.0; 3], 1.0).fixed();
    let ball = HardSphere::new([reach * tilt.sin(), reach * tilt.cos(), 0.0], 0.5);
    let rules = under_gravity(Walls::default(), [0.0; 2], 1e-3);
    let mut world = World::new(&[fixed, ball], &buffers(2, &rules));
    // From the tilt on, the ball falls by reach·(cos(tilt) − cos(θ)), and leaves where the speed v has v² = g·reach·cos(θ).
    let cosine = 2.0 / 3.0 * tilt.cos();
    let speed = (9.8 * reach * cosine).sqrt() * cosine;
    let mut state = world.advance(2.0);
    let after = world.spheres()[1];
    println!("{state:?} {after:?} {speed}");
    assert!(
        (after.velocity[0] / speed - 1.0).abs() < 0.0065,
        "{after:?} {speed}"
    );
    let energy = after.kinetic_energy() + 9.8 * after.center[1];
    let before = 9.8 * ball.center[1];
    assert!((energy - before).abs() < 0.02 * before, "{energy} {before}");
    state = world.advance(0.5);
    assert!(state.sphere_impacts <= 2, "{state:?}");
}

/// A floor that moves up carries a pile with it, and bears its weight.
#[test]
fn a_floor_that_moves_carries_a_pile() {
    let column = (0..4).map(|k| HardSphere::new([0.5, f64::from(k) + 0.5, 0.5], 0.5));
    let column: Vec<_> = column.collect();
    let mut walls = open_box(0.0, 1.0, false).simple().to_vec();
    walls[0] = walls[0].with_velocity([0.0, 2.0, 0.0]);
    let rules = under_gravity(walls.into_iter().collect(), [0.5; 2], 1e-3);
    let pile = settled(&column, &buffers(4, &rules), 60);
    println!("{} {:?}", pile.force, pile.substeps);
    assert!((pile.force - 1.0).abs() < 1e-3, "{}", pile.force);
    assert!(
        pile.substeps[30..].iter().sum::<u64>() <= 240,
        "{:?}",
        pile.substeps
    );
    for (ball, start) in pile.spheres.iter().zip(&column) {
        assert!((ball.velocity[1] - 2.0).abs() < 1e-4, "{ball:?}");
        let risen = ball.center[1] - start.center[1];
        assert!((risen - 2.0).abs() < 1e-2, "{risen}");
    }
}

/// A wall pushes a disc against another wall until there is no room for it. With gravity and a contact time, the disc then
/// overlaps the walls. Otherwise, the time stops, and the state says why.
#[test]
fn a_squeezed_disc_overlaps_the_walls_or_stops_the_clock() {
    let walls = [
        Wall::half_space([1.0, 0.0, 0.0], 0.75).with_velocity([1.0, 0.0, 0.0]),
        Wall::half_space([-1.0, 0.0, 0.0], -2.0),
        Wall::half_space([0.0, 1.0, 0.0], 0.0),
    ];
    let walls: Walls = walls.into_iter().collect();
    let disc = HardSphere::new([1.35, 0.5, 0.0], 0.5);
    for (restitution, contact_time, gravity) in
        [(0.5, 1e-3, -9.8), (0.9, 1e-2, -9.8), (0.5, 0.0, 0.0)]
    {
        let rules = under_gravity(walls.clone(), [restitution; 2], contact_time)
            .with_gravity([0.0, gravity, 0.0]);
        let mut world = World::new(&[disc], &buffers(1, &rules));
        let mut last = SimulationState::default();
        // The room is gone at time 0.25.
        for frame in 0..20 {
            let mut state = world.record(1.0 / 60.0);
            for _ in 0..40 {
                if state.remaining > 0.0 {
                    state = world.record(0.0);
                }
            }
            let stands = state.remaining > 0.0;
            assert_eq!(stands, gravity == 0.0 && frame > 13, "{frame} {state:?}");
            if stands {
                assert!(
                    state.status.contains(SimulationStatus::COLLAPSE),
                    "{state:?}"
                );
                assert!((state.time - 0.25).abs() < 0.02, "{state:?}");
            }
            last = state;
            let [x, y, _] = world.spheres()[0].center;
            assert!(x.abs() < 10.0 && y.abs() < 10.0, "{x} {y}");
        }
        println!("{last:?} {:?}", world.spheres()[0]);
        let speed = DVec3::from(world.spheres()[0].velocity).length();
        assert!(speed < 3.0, "{speed}");
    }
}

/// What is far from the origin moves as near to it as far as float32 numbers tell its places apart. Then the state says so.
#[test]
fn a_ball_too_far_from_the_origin_is_told() {
    for (far, told) in [(0.0, false), (1e6, false), (1e8, true), (1e13, true)] {
        let ball = HardSphere::new([far, 0.0, -far], 0.5).with_velocity([0.0, 0.0, 3.0]);
        let at_rest = HardSphere::new([-1e15, 0.0, 0.0], 0.5);
        let options = SimulationBufferOptions::new(2);
        let mut world = World::new(&[ball, at_rest], &options);
        let mut state = SimulationState::default();
        for _ in 0..8 {
            state = world.advance(0.125);
        }
        let expected = if told {
            SimulationStatus::FAR_AWAY
        } else {
            SimulationStatus::empty()
        };
        assert_eq!(state.status, expected, "{far}");
        assert_eq!(state.time, 1.0);
        if !told {
            assert_eq!(world.spheres()[0].center[2], (-far + 3.0), "{far}");
        }
    }
}

/// Balls that all begin at one point fly apart without an impact.
#[test]
fn balls_fly_apart_from_one_point() {
    let count = 60;
    let balls: Vec<_> = (0..count)
        .map(|k| {
            let angle = 2.4 * f64::from(k);
            let up = 2.0 * f64::from(k) / f64::from(count) - 1.0;
            let around = (1.0 - up * up).sqrt();
            let velocity = [around * angle.cos(), around * angle.sin(), up];
            HardSphere::new([1.0, 2.0, 3.0], 0.05).with_velocity(velocity)
        })
        .collect();
    let options = SimulationBufferOptions::new(count as u32)
        .with_candidates(count as u32 * (count as u32 - 1) / 2);
    let mut world = World::new(&balls, &options);
    let state = world.advance(2.0);
    assert!(state.substeps <= 16 && state.rollbacks == 0, "{state:?}");
    assert_eq!(state.sphere_impacts, 0, "{state:?}");
    for (ball, start) in world.spheres().iter().zip(&balls) {
        let expected = DVec3::from(start.center) + 2.0 * DVec3::from(start.velocity);
        assert!(
            (DVec3::from(ball.center) - expected).length() < 1e-5,
            "{ball:?}"
        );
    }
}

/// A ball that overlaps a floor at the start is pushed out, and gains no speed.
#[test]
fn an_overlap_is_pushed_out_without_speed() {
    let balls = [0.49, 1.488].map(|y| HardSphere::new([0.5, y, 0.5], 0.5));
    let rules = under_gravity(open_box(0.0, 1.0, false), [0.5; 2], 1e-3);
    let mut world = World::new(&balls, &buffers(2, &rules));
    for _ in 0..60 {
        let state = world.advance(1.0 / 60.0);
        assert!(state.kinetic_energy < 1e-6, "{state:?}");
    }
    for (ball, y) in world.spheres().iter().zip([0.5, 1.5]) {
        assert!((ball.center[1] - y).abs() < 1e-4, "{ball:?}");
    }
}

/// Returns the number in the environment variable, if it is there, instead of all.
fn only<T: Copy + std::str::FromStr>(name: &str, all: &[T]) -> Vec<T> {
    let given = std::env::var(name).ok().and_then(|text| text.parse().ok());
    given.map_or_else(|| all.to_vec(), |one| vec![one])
}

/// Piles and rows on planes and triangles, in two and three dimensions, for 5 simulated seconds. Prints what the same pile
/// does on the CPU, too. `CAROM_SPHERES` is one of the sizes, and `CAROM_RESTITUTION` one of the restitutions.
#[test]
#[ignore = "takes hours; run it with `--ignored --nocapture`"]
fn all_piles_come_to_rest() {
    for count in only("CAROM_SPHERES", &[2, 10, 40, 200]) {
        for restitution in only("CAROM_RESTITUTION", &[0.0, 0.1, 0.5, 0.9, 0.99]) {
            for contact_time in [1e-5, 1e-4, 1e-3, 1e-2, 1e-1] {
                for (discs, meshes) in [(false, false), (false, true), (true, false)] {
                    compare(count, [restitution, contact_time], discs, meshes);
                }
            }
        }
    }
}

fn compare(count: usize, [restitution, contact_time]: [f64; 2], discs: bool, meshes: bool) {
    let mut rng = Rng::with_seed(1);
    let across = if discs { 8 } else { 3 };
    let balls: Vec<_> = (0..count)
        .map(|k| {
            let mut place = |k: usize| 0.55 + 1.2 * k as f64 + 0.1 * rng.f64();
            let x = place(k % across);
            if discs {
                return HardSphere::new([x, place(k / across), 0.0], 0.5);
            }
            let z = place(k / across % across);
            HardSphere::new([x, place(k / across / across), z], 0.5)
        })
        .collect();
    let width = if discs { 10.0 } else { 4.0 };
    let walls = if meshes {
        with_mesh(Walls::default(), box_mesh([0.0; 3], [width, 200.0, width]))
    } else {
        open_box(0.0, width, discs)
    };
    let rules = under_gravity(walls, [restitution; 2], contact_time);
    let options = buffers(count, &rules).with_candidates(64 * count as u32 + 1024);
    let pile = settled(&balls, &options, 300);
    let mut sorted = pile.substeps.clone();
    sorted.sort_unstable();
    let deepest = overlap(&pile.spheres, None);
    let mut on_cpu = Simulation::new(balls, rules).expect("a simulation");
    for _ in 0..300 {
        on_cpu.step(1.0 / 60.0).expect("a step");
    }
    let height = |spheres: &[HardSphere]| -> f64 {
        spheres.iter().map(|ball| ball.center[1]).sum::<f64>() / count as f64
    };
    println!(
        "{count} balls, discs {discs}, triangles {meshes}, e = {restitution}, contact time {contact_time:e}: \
         substeps {} at most, {} usually; energy {:.1e} (CPU: {:.1e}), height {:.4} ({:.4}), force {:.4}, overlap {:.1e}",
        sorted[299],
        sorted[150],
        pile.state.kinetic_energy / count as f64,
        on_cpu.kinetic_energy() / count as f64,
        height(&pile.spheres),
        height(on_cpu.spheres()),
        pile.force,
        1e-6 * deepest,
    );
    assert!(sorted[299] <= 400, "{} substeps", sorted[299]);
    // Overlaps are at most a thousandth of the radius, or what a slow impact may leave.
    assert!(deepest < 2e3 * (1.0 + 100.0 * contact_time), "{deepest}");
}
