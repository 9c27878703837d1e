//! Tests of fluids: conservation laws, pressure, and the length of substeps.

use carom::gpu::{SimulationBufferOptions, SimulationState};
use carom::{HardSphere, Impact, Mesh, Partner, Simulation, SimulationOptions, Wall, Walls};
use fastrand::Rng;
use glam::DVec3;

use crate::like_cpu::{assert_like_cpu, assert_same_impacts, cube, with_mesh};
use crate::world::{
    World, all_impacts, all_momenta, energy, momentum, overlap, periodic, periodic_fluid,
};

fn kolafa(eta: f64) -> f64 {
    (1.0 + eta + eta * eta - 2.0 / 3.0 * eta.powi(3) * (1.0 + eta)) / (1.0 - eta).powi(3)
}

/// Runs a fluid for a number of impacts of each sphere after equilibration, and returns its compressibility factor.
/// Checks energy, momentum and overlaps on the way.
fn compressibility(count: usize, eta: f64, impacts: f64, seed: u64) -> f64 {
    let (spheres, edge) = periodic_fluid(count, eta, seed);
    let options = SimulationBufferOptions::new(count as u32)
        .with_substeps(6)
        .with_simulation(periodic(edge));
    let mut world = World::new(&spheres, &options);
    // Mean time between two impacts of a sphere, by the kinetic theory.
    let time = 1.0
        / (4.0 * 6.0 * eta / std::f64::consts::PI * (kolafa(eta) - 1.0) / (4.0 * eta)
            * std::f64::consts::PI.sqrt());
    let [before, momentum_before] = [energy(&spheres), all_momenta(&spheres)];
    let mut start = SimulationState::default();
    let mut state = start;
    while 2.0 * (state.sphere_impacts as f64) < (impacts + 10.0) * count as f64 {
        state = world.advance(time as f32);
        if 2.0 * (state.sphere_impacts as f64) < 10.0 * count as f64 {
            start = state;
        }
        if count <= 1000 {
            let depth = overlap(&world.spheres(), Some(edge));
            assert!(depth <= 1.0, "{depth} {state:?}");
        }
    }
    let spheres = world.spheres();
    let after = energy(&spheres);
    println!("{state:?} energy {:e}", after / before - 1.0);
    assert!((after / before - 1.0).abs() < 1e-5, "{before} {after}");
    let drift = momentum(&spheres).length() / momentum_before;
    assert!(drift < 1e-5, "{drift}");
    assert!((state.kinetic_energy / after - 1.0).abs() < 1e-4);
    1.0 + (state.virial - start.virial) / (2.0 * after * (state.time - start.time))
}

#[test]
fn fluids_keep_energy_and_momentum_and_have_the_right_pressure() {
    for (eta, bound) in [(0.1, 0.03), (0.4, 0.08)] {
        let z = compressibility(500, eta, 15.0, 1);
        let exact = kolafa(eta);
        println!("{eta}: {z} {exact}");
        assert!((z / exact - 1.0).abs() < bound, "{eta}: {z}, not {exact}");
    }
}

/// Centres and velocities that were read are those of a simulation that begins with them, bit for bit, and it goes on with
/// the same energy and momentum, and without overlaps.
#[test]
fn a_simulation_goes_on_from_what_was_read() {
    let (spheres, edge) = periodic_fluid(256, 0.35, 2);
    let options = SimulationBufferOptions::new(256).with_simulation(periodic(edge));
    let mut world = World::new(&spheres, &options);
    let bits =
        |world: &World| [&world.places, &world.motions].map(|buffer| world.device.read(buffer));
    for _ in 0..4 {
        world.advance(0.2);
        let saved = bits(&world);
        world = World::new(&world.spheres(), &options);
        assert_eq!(bits(&world), saved);
        world.record(0.0);
        assert_eq!(bits(&world), saved);
        let state = world.advance(0.2);
        assert!(all_impacts(&state) > 100, "{state:?}");
        let depth = overlap(&world.spheres(), Some(edge));
        assert!(depth <= 1.0, "{depth} {state:?}");
    }
    let after = world.spheres();
    assert!((energy(&after) / energy(&spheres) - 1.0).abs() < 1e-5);
    let drift = (momentum(&after) - momentum(&spheres)).length();
    assert!(drift < 1e-5 * all_momenta(&after), "{drift}");
}

/// In a long substep, many impacts turn out to be wrong, and the GPU removes them again. The GPU would choose shorter
/// substeps, so the test writes the duration of the next substep into the state of the simulation.
#[test]
fn long_substeps_miss_nothing() {
    let (spheres, edge) = periodic_fluid(256, 0.35, 1);
    let options = SimulationBufferOptions::new(256)
        .with_substeps(2)
        .with_rounds(100)
        .with_simulation(periodic(edge));
    let mut world = World::new(&spheres, &options);
    let mut rounds = 0;
    for _ in 0..12 {
        world.set_pace(0.12);
        let state = world.advance(0.12);
        rounds = rounds.max(state.rounds);
        let depth = overlap(&world.spheres(), Some(edge));
        assert!(depth <= 1.0, "{depth} {state:?}");
    }
    let state = world.record(0.0);
    println!("{rounds} {state:?}");
    assert!(rounds >= 8, "{rounds}");
    let after = world.spheres();
    assert!((energy(&after) / energy(&spheres) - 1.0).abs() < 1e-5);
    let drift = (momentum(&after) - momentum(&spheres)).length();
    assert!(drift < 1e-5 * all_momenta(&after), "{drift}");
}

/// Each of 64 spheres is in a cage of fourteen others, and hits one of them, all at the same time. So one workgroup adds
/// more spheres to the next round than it can gather.
#[test]
fn a_crowded_round_leaves_out_no_sphere() {
    let middles = (0..64).map(|k| 16.0 * DVec3::new(f64::from(k % 8), f64::from(k / 8), 0.0));
    let middles: Vec<_> = middles.collect();
    let ball = |middle: &DVec3| HardSphere::new(*middle, 1.0).with_velocity([8.0, 0.125, 0.25]);
    let mut spheres: Vec<_> = middles.iter().map(ball).collect();
    let signs = [1.0, -1.0];
    let corners = signs.map(|x| signs.map(|y| signs.map(|z| DVec3::new(x, y, z).normalize())));
    let axes = signs.map(|sign| DVec3::AXES.map(|axis| sign * axis));
    for middle in middles {
        let places = corners
            .iter()
            .flatten()
            .flatten()
            .chain(axes.iter().flatten());
        spheres.extend(places.map(|place| HardSphere::new(middle + 1.5 * *place, 0.25)));
    }
    let state = assert_like_cpu(&spheres, &SimulationOptions::new(), 0.5, 1e-3);
    assert_eq!(state.sphere_impacts, 128, "{state:?}");
    // A sphere that is left out ends its substep early, so there would be more substeps.
    assert!(state.substeps < 8 && state.rollbacks == 0, "{state:?}");
}

#[test]
fn two_runs_have_the_same_bytes_and_a_plane_stays_one() {
    let mut rng = Rng::with_seed(3);
    let mut spheres = vec![HardSphere::new([0.0; 3], 0.25); 150];
    for (k, sphere) in spheres.iter_mut().enumerate() {
        sphere.center = [
            (k % 15) as f64 * 0.6 + 0.6,
            (k / 15) as f64 * 0.8 + 1.0,
            0.0,
        ];
        sphere.velocity = [2.0 * rng.f64() - 1.0, 2.0 * rng.f64() - 1.0, 0.0];
    }
    let walls = Walls::from_iter(cube().simple()[..4].iter().copied());
    let rules = SimulationOptions::new()
        .with_walls(walls)
        .with_gravity([0.0, -1.0, 0.0]);
    let options = SimulationBufferOptions::new(150)
        .with_simulation(rules)
        .with_impacts(1000);
    let runs = [0, 1].map(|_| {
        let mut world = World::new(&spheres, &options);
        let (state, list) = world.advance_with_list(1.5);
        assert!(state.sphere_impacts > 200, "{state:?}");
        assert_eq!(list.len() as u64, all_impacts(&state));
        assert!(world.spheres().iter().all(|sphere| sphere.center[2] == 0.0));
        let words = [&world.places, &world.motions].map(|buffer| world.device.read(buffer));
        (words, list)
    });
    assert_eq!(runs[0], runs[1]);
}

#[test]
fn impacts_across_the_faces_of_the_cell_have_images() {
    // The first ball hits the second one across the face x = 0 of the periodic cell. The third ball
    // leaves the cell through its edge at y = 10 and z = 0, and there hits the image of a wall or
    // of a mesh's edge.
    let balls = [
        HardSphere::new([0.75, 3.0, 3.0], 0.25).with_velocity([-1.0, 0.0, 0.0]),
        HardSphere::new([9.7, 3.0, 3.0], 0.25).fixed(),
        HardSphere::new([2.0, 9.5, 0.5], 0.25).with_velocity([0.0, 1.0, -1.0]),
    ];
    let corners = [[1.0, 0.15, 9.85], [3.0, 0.15, 9.85], [2.0, 1.0, 9.0]];
    let mesh = Mesh::new(corners.to_vec(), vec![[0, 1, 2]]).expect("a mesh");
    for walls in [
        Walls::from_iter([Wall::sphere([2.0, 0.25, 9.75], 0.125)]),
        with_mesh(Walls::new(), mesh),
    ] {
        let rules = periodic(10.0).with_walls(walls).with_impact_list();
        let options = SimulationBufferOptions::new(3).with_simulation(rules.clone());
        let mut world = World::new(&balls, &options);
        let (_, list) = world.advance_with_list(0.7);
        let found: Vec<_> = (list.iter())
            .map(|impact| (impact.sphere, impact.partner, impact.image))
            .collect();
        let expected = [
            (2, Partner::Wall(0), [0, -1, 1]),
            (0, Partner::Sphere(1), [-1, 0, 0]),
        ];
        assert_eq!(found, expected, "{list:?}");
        let mut simulation = Simulation::new(balls.to_vec(), rules.clone()).expect("a simulation");
        let report = simulation.step(0.7).expect("a step");
        assert_same_impacts(&list, &report.impacts, &simulation, 1e-4);
        let images = |list: &[Impact]| list.iter().map(|impact| impact.image).collect::<Vec<_>>();
        assert_eq!(images(&list), images(&report.impacts));
    }
}

#[test]
fn few_spheres_in_a_small_cell_roll_few_substeps_back() {
    for count in 1..5 {
        let (mut spheres, edge) = periodic_fluid(count, 0.2, 1);
        if count == 1 {
            spheres[0].velocity = [0.3, 0.5, 0.7];
        }
        let options = SimulationBufferOptions::new(count as u32)
            .with_substeps(5)
            .with_simulation(periodic(edge));
        let mut world = World::new(&spheres, &options);
        let mut state = world.record(1e4);
        for _ in 1..10 {
            state = world.record(0.0);
        }
        assert_eq!(state.substeps + state.rollbacks, 50, "{state:?}");
        assert!(state.rollbacks <= 10, "{state:?}");
    }
}

/// Compares the pressure with Kolafa's equation of state. Takes some minutes.
#[test]
#[ignore = "long"]
fn the_equation_of_state_is_that_of_kolafa() {
    for eta in [0.1, 0.2, 0.3, 0.4] {
        let seeds = [1, 2];
        let z = seeds.map(|seed| compressibility(4000, eta, 100.0, seed));
        let mean = z.iter().sum::<f64>() / seeds.len() as f64;
        println!("{eta}: {mean} {}", kolafa(eta));
        assert!((mean / kolafa(eta) - 1.0).abs() < 0.005, "{eta}: {mean}");
    }
}
