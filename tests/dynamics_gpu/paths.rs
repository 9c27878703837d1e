//! Tests of spheres that leave the paths on which candidates were found: bullets, and deflected balls.

use carom::gpu::{SimulationBufferOptions, SimulationStatus};
use carom::{HardSphere, Mesh, Simulation, SimulationOptions, Wall, Walls};
use glam::DVec3;

use crate::like_cpu::{
    assert_like_cpu, assert_same_impacts, ball_of_triangles, cube, random_spheres, with_mesh,
};
use crate::world::{
    World, all_impacts, all_momenta, energy, momentum, overlap, periodic, periodic_fluid,
};

#[test]
fn a_bullet_among_balls_at_rest_misses_nothing() {
    let (mut spheres, edge) = periodic_fluid(108, 0.3, 1);
    for sphere in &mut spheres {
        sphere.velocity = [0.0; 3];
    }
    spheres[0].velocity = [50.0, 20.0, 7.0];
    let options = SimulationBufferOptions::new(108).with_simulation(periodic(edge));
    let mut world = World::new(&spheres, &options);
    for _ in 0..8 {
        world.advance(0.02);
        let depth = overlap(&world.spheres(), Some(edge));
        assert!(depth <= 1.0, "{depth}");
    }
    let state = world.record(0.0);
    let after = world.spheres();
    assert!(state.sphere_impacts > 20, "{state:?}");
    assert!((energy(&after) / energy(&spheres) - 1.0).abs() < 1e-5);
    let drift = (momentum(&after) - momentum(&spheres)).length();
    assert!(drift < 1e-5 * all_momenta(&after), "{drift}");
}

/// Fast spheres hit spheres at rest, which then move farther than the search for candidates assumed, and meet further
/// spheres, walls and triangles in the same substep. No substep is rolled back for them.
#[test]
fn bullets_among_balls_at_rest_move_as_on_the_cpu() {
    let (mut impacts, mut rollbacks, mut substeps) = (0, 0, 0);
    for seed in 40..48 {
        let mut spheres = random_spheres(150, seed, 1.0);
        let center = DVec3::splat(5.0);
        spheres.retain(|sphere| DVec3::from(sphere.center).distance(center) > sphere.radius + 1.6);
        for sphere in &mut spheres[3..] {
            sphere.velocity = [0.0; 3];
        }
        for sphere in &mut spheres[..3] {
            sphere.velocity = (DVec3::from(sphere.velocity) * 20.0).to_array();
        }
        let ball = ball_of_triangles([5.0; 3], 1.5, 2);
        let rules = SimulationOptions::new().with_walls(with_mesh(cube(), ball));
        let state = assert_like_cpu(&spheres, &rules, 0.2, 2e-2);
        impacts += all_impacts(&state);
        rollbacks += state.rollbacks;
        substeps += state.substeps;
    }
    println!("{impacts} impacts, {substeps} substeps, {rollbacks} rolled back");
    assert!(impacts > 100, "{impacts}");
    assert!(rollbacks <= 2, "{rollbacks}");
}

/// A bullet hits a ball. The ball moves farther than its pad and glances off the next ball. So it misses
/// the ball behind. The pads follow from the mean speed of all spheres, and 100 other spheres at rest
/// keep this speed low.
fn deflection() -> Vec<HardSphere> {
    let bullet = HardSphere::new([-32.0, 0.0, 0.0], 0.5).with_velocity([10.0, 0.0, 0.0]);
    let balls = [[0.0; 3], [5.0, 0.866, 0.0], [18.0, 0.0, 0.0]];
    let others = (0..100).map(|k| [100.0 + 3.0 * f64::from(k), 100.0, 100.0]);
    let at_rest = balls.into_iter().chain(others);
    let at_rest = at_rest.map(|place| HardSphere::new(place, 0.5));
    [bullet].into_iter().chain(at_rest).collect()
}

#[test]
fn a_deflected_ball_misses_the_ball_that_it_would_have_hit() {
    // A bullet hits a ball, and this ball glances off another one, in the same substep.
    let state = assert_like_cpu(&deflection(), &SimulationOptions::new(), 9.0, 1e-3);
    assert_eq!((state.sphere_impacts, state.rollbacks), (2, 0), "{state:?}");
}

/// A bullet drives a ball into a wall that is far beyond the ball's pad. The ball, a little above the
/// floor, also hits the floor in this substep, but later.
#[test]
fn a_ball_that_leaves_its_pad_hits_the_first_wall_first() {
    let bullet = HardSphere::new([-7.0, 5.0, 0.516], 0.5).with_velocity([100.0, 0.0, 0.0]);
    let ball = HardSphere::new([5.0, 5.0, 0.51], 0.5);
    let others = (0..30).map(|k| HardSphere::new([0.0, 20.0 + 2.0 * f64::from(k), 5.0], 0.5));
    let spheres: Vec<_> = [bullet, ball].into_iter().chain(others).collect();
    let floor = Wall::half_space([0.0, 0.0, 1.0], 0.0);
    let of_planes = Walls::from_iter([floor, Wall::half_space([-1.0, 0.0, 0.0], -7.0)]);
    let corners = vec![[7.0, -50.0, -50.0], [7.0, 50.0, -50.0], [7.0, 0.0, 80.0]];
    let mut with_mesh = Walls::from_iter([floor]);
    with_mesh.push_mesh(Mesh::new(corners, vec![[0, 1, 2]]).expect("a triangle"));
    for walls in [of_planes, with_mesh] {
        let rules = SimulationOptions::new().with_walls(walls);
        let state = assert_like_cpu(&spheres, &rules, 0.2, 1e-3);
        assert!(state.wall_impacts >= 2, "{state:?}");
    }
}

/// A substep looks for spheres that have left their pads after every fourth round. This test sets five
/// rounds. So a sphere may leave its pad in a later round, after the last look.
#[test]
fn bullets_lose_no_impact_with_five_rounds() {
    let mut status = SimulationStatus::empty();
    for seed in [15, 25, 137] {
        let mut spheres = random_spheres(40, seed, 1.0);
        let (bullets, others) = spheres.split_at_mut(5);
        for (spheres, factor) in [(bullets, 5.0), (others, 0.02)] {
            for sphere in spheres {
                sphere.velocity = sphere.velocity.map(|v| v * factor);
            }
        }
        let rules = SimulationOptions::new()
            .with_walls(cube())
            .with_gravity([0.0, 0.0, -3.0]);
        let options = SimulationBufferOptions::new(40)
            .with_substeps(2)
            .with_rounds(5)
            .with_simulation(rules);
        let mut world = World::new(&spheres, &options);
        for _ in 0..10 {
            let state = world.record(0.5);
            status |= state.status;
            let deepest = overlap(&world.spheres(), None);
            assert!(deepest < 2.0, "{seed} {deepest} {state:?}");
        }
    }
    assert!(status.contains(SimulationStatus::LEFT_PAD), "{status:?}");
}

#[test]
fn too_many_further_candidates_roll_a_substep_back() {
    // The search finds three candidates (pairs that may meet) with the bullet. There are two more
    // candidates with the ball that the bullet hits, but the buffers have room for only four in
    // all.
    let spheres = deflection();
    let options = SimulationBufferOptions::new(spheres.len() as u32)
        .with_candidates(4)
        .with_substeps(1);
    let mut world = World::new(&spheres, &options);
    let given = world.spheres();
    let mut state = world.record(9.0);
    let mut status = state.status;
    for _ in 0..100 {
        state = world.record(0.0);
        status |= state.status;
    }
    // After the impact, two balls fly. So the search at the start of a later substep may find more than four
    // candidates (pairs that may meet), for which the buffers have no room. It then sets the bit
    // `SEARCH_INCOMPLETE`.
    let told = status - SimulationStatus::SEARCH_INCOMPLETE - SimulationStatus::BEHIND;
    assert_eq!(told, SimulationStatus::LEFT_PAD, "{state:?}");
    assert!(state.remaining == 0.0 && state.rollbacks > 0, "{state:?}");
    let mut simulation = Simulation::new(given, SimulationOptions::new()).expect("a simulation");
    let report = simulation.step(9.0).expect("a step");
    assert_eq!(state.sphere_impacts, report.sphere_impacts, "{state:?}");
    for (gpu, cpu) in world.spheres().iter().zip(simulation.spheres()) {
        assert!(
            DVec3::from(gpu.center).distance(cpu.center.into()) < 1e-3,
            "{gpu:?} {cpu:?}"
        );
    }
}

/// Bullets hit spheres of compound bodies. A sphere that a bullet hits leaves its pad. It then
/// passes through other spheres of its own body, because the spheres of one body never collide.
#[test]
fn bullets_among_compound_bodies_move_as_on_the_cpu() {
    let (mut apart, mut together, mut rollbacks) = (0, 0, 0);
    for seed in 50..56 {
        let mut spheres = random_spheres(150, seed, 1.0);
        for sphere in &mut spheres[3..] {
            sphere.velocity = [0.0; 3];
        }
        for sphere in &mut spheres[..3] {
            sphere.velocity = (DVec3::from(sphere.velocity) * 20.0).to_array();
        }
        let rules = SimulationOptions::new().with_walls(cube());
        let with_list = rules.clone().with_impact_list();
        let mut alone = Simulation::new(spheres.clone(), with_list).expect("a simulation");
        apart += alone.step(0.2).expect("a step").sphere_impacts;
        // Each compound body has the spheres in one octant of the cubic world. The bullets are in
        // no body.
        let body = |sphere: &HardSphere| {
            let place = DVec3::from(sphere.center).cmpgt(DVec3::splat(5.0));
            (sphere.velocity == [0.0; 3]).then_some(place.bitmask())
        };
        let rules = rules.with_bodies(spheres.iter().map(body).collect());
        let state = assert_like_cpu(&spheres, &rules, 0.2, 2e-2);
        together += state.sphere_impacts;
        rollbacks += state.rollbacks;
        // The list of impacts has room for only four impacts, so it becomes full after some
        // substeps. In some of these, spheres leave their pads.
        let options = SimulationBufferOptions::new(150)
            .with_simulation(rules.clone())
            .with_impacts(4);
        let mut world = World::new(&spheres, &options);
        let with_list = rules.clone().with_impact_list();
        let mut simulation = Simulation::new(world.spheres(), with_list).expect("a simulation");
        let report = simulation.step(f64::from(0.2_f32)).expect("a step");
        let (state, list) = world.advance_with_list(0.2);
        assert!(state.rollbacks > 2, "{state:?}");
        assert_same_impacts(&list, &report.impacts, &simulation, 2e-2);
    }
    println!("{apart} {together} impacts, {rollbacks} rolled back");
    assert!(together > 50 && together < apart, "{apart} {together}");
    assert!(rollbacks <= 2, "{rollbacks}");
}
