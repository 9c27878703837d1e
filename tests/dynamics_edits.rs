//! Tests that the world of a simulation may change between its steps.

#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers of spheres are small, and float32 has the place of each wall"
)]

mod backends;
mod event_driven;

use std::sync::atomic::{AtomicU32, Ordering};

use backends::with_threads;
use carom::{
    Domain, Encounter, Error, HardSphere, Impact, Mesh, Outcome, Partner, Response, Simulation,
    SimulationOptions, StepReport, Wall, WallShape, Walls,
};
use event_driven::{Ball, Reference};
use fastrand::Rng;
use glam::DVec3;

fn step(simulation: &mut Simulation, duration: f64) -> StepReport {
    simulation.step(duration).expect("the step is possible")
}

/// A world that the test changes by itself, and of which a new simulation can be made.
#[derive(Clone)]
struct World {
    spheres: Vec<HardSphere>,
    removed: Vec<bool>,
    groups: Vec<u32>,
    bodies: Vec<Option<u32>>,
    walls: Walls,
    /// For each simple wall, and then for each mesh, whether it is switched off.
    off: Vec<bool>,
    gravity: [f64; 3],
    restitution: [f64; 2],
    contact_time: f64,
    periodic: bool,
}

const EDGE: f64 = 6.0;

fn ramp(height: f32) -> Mesh {
    let corners = vec![
        [1.0, 1.0, 0.5],
        [4.0, 1.0, height],
        [4.0, 4.0, height],
        [1.0, 4.0, 0.5],
    ];
    Mesh::new(corners, vec![[0, 1, 2], [0, 2, 3]]).expect("a valid mesh")
}

fn ball(rng: &mut Rng) -> HardSphere {
    let center = [(); 3].map(|()| 0.5 + (EDGE - 1.0) * rng.f64());
    let velocity = [(); 3].map(|()| 2.0 * rng.f64() - 1.0);
    let ball = HardSphere::new(center, 0.1 + 0.2 * rng.f64()).with_velocity(velocity);
    match rng.u32(0..10) {
        0 => ball.fixed(),
        _ => ball.with_mass(0.5 + rng.f64()),
    }
}

impl World {
    fn new(rng: &mut Rng, periodic: bool) -> Self {
        let spheres: Vec<_> = (0..30).map(|_| ball(rng)).collect();
        let mut walls = if periodic {
            Walls::new()
        } else {
            Walls::inside_box([0.0; 3], [EDGE as f32; 3])
        };
        walls.push(Wall::sphere([3.0, 3.0, 3.0], 0.5));
        walls.push_mesh(ramp(1.0));
        walls.push_mesh(ramp(2.0).with_velocity([0.0, 0.0, 0.1]));
        Self {
            removed: vec![false; spheres.len()],
            groups: vec![0; spheres.len()],
            bodies: vec![None; spheres.len()],
            off: vec![false; walls.simple().len() + walls.meshes().len()],
            spheres,
            walls,
            gravity: [0.0; 3],
            restitution: [1.0; 2],
            contact_time: 0.0,
            periodic,
        }
    }

    fn simulation(&self) -> Simulation {
        let mut options = SimulationOptions::new()
            .with_groups(self.groups.clone())
            .with_bodies(self.bodies.clone())
            .with_walls(self.walls.clone())
            .with_gravity(self.gravity)
            .with_restitution(self.restitution[0])
            .with_wall_restitution(self.restitution[1])
            .with_contact_time(self.contact_time)
            .with_impact_list();
        if self.periodic {
            options = options.with_domain(Domain::rectangular([0.0; 3], [EDGE as f32; 3]));
        }
        let mut simulation = Simulation::new(self.spheres.clone(), options).expect("it is valid");
        for (sphere, _) in self
            .removed
            .iter()
            .enumerate()
            .filter(|(_, removed)| **removed)
        {
            simulation.remove(sphere).expect("it is there");
        }
        for (place, _) in self.off.iter().enumerate().filter(|(_, off)| **off) {
            let wall = number(&self.walls, place);
            simulation
                .set_wall_enabled(wall, false)
                .expect("it is there");
        }
        simulation
    }

    /// Changes this world and a simulation of it in the same way.
    fn edit(&mut self, simulation: &mut Simulation, kind: u32, rng: &mut Rng) {
        let sphere = rng.usize(0..self.spheres.len());
        let present = !self.removed[sphere];
        match kind {
            0 => {
                let new = ball(rng);
                let hole = self.removed.iter().position(|&removed| removed);
                let id = hole.unwrap_or(self.spheres.len());
                assert_eq!(simulation.add(new), Ok(id as u32));
                if hole.is_none() {
                    self.spheres.push(new);
                    self.removed.push(false);
                    self.groups.push(0);
                    self.bodies.push(None);
                }
                (self.spheres[id], self.removed[id]) = (new, false);
                (self.groups[id], self.bodies[id]) = (0, None);
            }
            1 | 2 => {
                let removed = simulation.remove(sphere);
                assert_eq!(removed.is_ok(), present);
                if present {
                    assert_eq!(removed, Ok(self.spheres[sphere]));
                    self.spheres[sphere].velocity = [0.0; 3];
                    self.removed[sphere] = true;
                }
            }
            3 => {
                let new = ball(rng);
                assert_eq!(simulation.restore(sphere, new).is_ok(), !present);
                if !present {
                    (self.spheres[sphere], self.removed[sphere]) = (new, false);
                }
            }
            4 => {
                let new = ball(rng);
                if present {
                    let edit = |spheres: &mut [HardSphere]| spheres[sphere] = new;
                    simulation.edit(edit).expect("it is valid");
                    self.spheres[sphere] = new;
                }
            }
            5 => {
                let groups = rng.u32(0..2) | rng.u32(0..2) << 16;
                assert_eq!(simulation.set_groups(sphere, groups).is_ok(), present);
                if present {
                    self.groups[sphere] = groups;
                }
            }
            6 => {
                let body = rng.bool().then(|| rng.u32(0..3));
                assert_eq!(simulation.set_body(sphere, body).is_ok(), present);
                if present {
                    self.bodies[sphere] = body;
                }
            }
            7 => {
                self.gravity = [0.0, 0.0, -f64::from(rng.u32(0..2))];
                simulation.set_gravity(self.gravity).expect("it is valid");
            }
            8 => {
                self.restitution = [0.5 + 0.5 * rng.f64(), 0.5 + 0.5 * rng.f64()];
                let [e, at_walls] = self.restitution;
                simulation.set_restitution(e).expect("it is valid");
                simulation
                    .set_wall_restitution(at_walls)
                    .expect("it is valid");
            }
            9 => {
                self.contact_time = 1e-3 * f64::from(rng.u32(0..2));
                simulation
                    .set_contact_time(self.contact_time)
                    .expect("it is valid");
            }
            10 => {
                let wall = rng.usize(0..self.off.len());
                self.off[wall] = rng.bool();
                let enabled = !self.off[wall];
                let wall = number(&self.walls, wall);
                simulation
                    .set_wall_enabled(wall, enabled)
                    .expect("it is there");
            }
            _ => self.edit_walls(simulation, rng),
        }
    }

    /// Changes a simulation that has moved on, so that only indices and walls matter here.
    fn edit_any(&mut self, simulation: &mut Simulation, rng: &mut Rng) {
        let spheres = 0..simulation.spheres().len();
        self.spheres = simulation.spheres().to_vec();
        self.removed = spheres.map(|k| simulation.is_removed(k)).collect();
        let kind = rng.u32(0..12);
        if kind < 11 {
            return self.edit(simulation, kind, rng);
        }
        let velocity = [(); 3].map(|()| 0.2 * rng.f32() - 0.1);
        let change = |walls: &mut Walls| {
            let mesh = walls.meshes()[1].clone();
            walls.meshes_mut()[1] = mesh.with_velocity(velocity);
            if let Some(wall) = walls.simple_mut().last_mut() {
                *wall = wall.with_velocity(velocity);
            }
        };
        simulation.edit_walls(change).expect("it is valid");
    }

    fn edit_walls(&mut self, simulation: &mut Simulation, rng: &mut Rng) {
        let first = if self.periodic { 0 } else { 6 };
        let before = self.walls.simple().len();
        let kind = rng.u32(0..5);
        let [x, z] = [rng.f32(), rng.f32()];
        let change = |walls: &mut Walls| match kind {
            0 => {
                let wall = Wall::sphere([1.0 + 4.0 * x, 2.0, 1.0 + 4.0 * z], 0.4);
                walls.push(wall.with_velocity([x, 0.0, -z]));
            }
            1 => {
                let simple = walls.simple();
                let fewer = &simple[..simple.len().saturating_sub(1).max(first)];
                let mut fewer: Walls = fewer.iter().copied().collect();
                walls
                    .meshes()
                    .iter()
                    .for_each(|mesh| fewer.push_mesh(mesh.clone()));
                *walls = fewer;
            }
            2 => {
                if let Some(wall) = walls.simple_mut().last_mut() {
                    *wall = wall.with_velocity([0.0, x - 0.5, 0.0]).with_groups(1, 0);
                }
            }
            3 => walls.meshes_mut()[0] = ramp(x).with_velocity([0.0, 0.0, z - 0.5]),
            _ => {
                let mesh = walls.meshes()[1].clone();
                walls.meshes_mut()[1] = mesh.with_velocity([x - 0.5, 0.0, 0.0]);
            }
        };
        simulation.edit_walls(change).expect("it is valid");
        change(&mut self.walls);
        let after = self.walls.simple().len();
        let meshes = self.off.split_off(before);
        self.off.resize(after, false);
        self.off.extend(meshes);
        assert_eq!(simulation.walls(), self.walls);
    }
}

/// Returns the number of a wall, or of the last triangle of a mesh. `place` counts the walls and then the meshes.
fn number(walls: &Walls, place: usize) -> usize {
    match place.checked_sub(walls.simple().len()) {
        None => place,
        Some(mesh) => walls.simple().len() + 2 * mesh + 1,
    }
}

/// Ten thousand random edits, a hundred at a time. After each hundred, the simulation is the same as one that is built
/// anew, and has the same steps, bit for bit.
#[test]
fn edits_give_the_same_bytes_as_a_simulation_built_anew() {
    let mut rng = Rng::with_seed(46);
    let (mut impacts, mut errors) = (0, 0);
    for round in 0..100 {
        let mut world = World::new(&mut rng, round % 2 == 1);
        let mut edited = world.simulation();
        for _ in 0..100 {
            let kind = rng.u32(0..12);
            world.edit(&mut edited, kind, &mut rng);
        }
        let mut anew = world.simulation();
        for _ in 0..3 {
            let found = with_threads(2, || edited.step(0.5));
            let expected = anew.step(0.5);
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{round}");
            assert_eq!(bits(&edited), bits(&anew), "{round}");
            errors += usize::from(found.is_err());
            impacts += found.map_or(0, |report| report.impacts.len());
        }
    }
    assert!(
        impacts > 1000 && errors < 30,
        "{impacts} impacts, {errors} errors"
    );
}

/// The state of a sphere: the bits of its numbers and of its place without wrapping, and whether it is removed.
type Bits = ([u64; 8], Option<[u64; 3]>, bool);

fn bits(simulation: &Simulation) -> (u64, Vec<Bits>) {
    let all = simulation.spheres().iter().enumerate();
    let all = all.map(|(sphere, state)| {
        let HardSphere {
            center: [x, y, z],
            velocity: [u, v, w],
            radius,
            mass,
        } = *state;
        let unwrapped = simulation.unwrapped_center(sphere);
        (
            [x, y, z, u, v, w, radius, mass].map(f64::to_bits),
            unwrapped.map(|center| center.map(f64::to_bits)),
            simulation.is_removed(sphere),
        )
    });
    (simulation.time().to_bits(), all.collect())
}

/// Between the steps, spheres come, go and are kicked. All spheres meet as in a plain event-driven simulation that begins
/// anew with each step.
#[test]
fn edited_spheres_meet_in_the_order_of_the_reference() {
    let mut rng = Rng::with_seed(7);
    let ball = |rng: &mut Rng| {
        let center = [(); 3].map(|()| 20.0 * rng.f64());
        let velocity = [(); 3].map(|()| 16.0 * rng.f64() - 8.0);
        HardSphere::new(center, 0.5).with_velocity(velocity)
    };
    let is_free = |simulation: &Simulation, new: &HardSphere| {
        (0..simulation.spheres().len()).all(|k| {
            let other = &simulation.spheres()[k];
            let away = (0..3).map(|k| (new.center[k] - other.center[k]).powi(2));
            simulation.is_removed(k) || away.sum::<f64>() > 1.001
        })
    };
    let options = SimulationOptions::new().with_impact_list();
    let mut simulation = Simulation::new(Vec::new(), options).expect("it is valid");
    let mut impacts = 0;
    for _ in 0..60 {
        for _ in 0..20 {
            let new = ball(&mut rng);
            if is_free(&simulation, &new) {
                simulation.add(new).expect("it is valid");
            }
        }
        for _ in 0..12 {
            let gone = rng.usize(0..simulation.spheres().len());
            if !simulation.is_removed(gone) {
                simulation.remove(gone).expect("it is there");
            }
        }
        let kicked = rng.usize(0..simulation.spheres().len());
        if !simulation.is_removed(kicked) {
            let kick = |spheres: &mut [HardSphere]| spheres[kicked].velocity = [9.0, 0.0, 0.0];
            simulation.edit(kick).expect("it is valid");
        }
        let present = |k: &usize| !simulation.is_removed(*k);
        let live: Vec<_> = (0..simulation.spheres().len()).filter(present).collect();
        let balls = live.iter().map(|&k| simulation.spheres()[k]);
        let balls: Vec<_> = balls
            .map(|sphere| Ball {
                place: sphere.center,
                velocity: sphere.velocity,
                radius: sphere.radius,
                mass: sphere.mass,
            })
            .collect();
        let mut reference = Reference::new(&balls, None, 1.0, 0.25);
        let from = simulation.time();
        for _ in 0..5 {
            let report = step(&mut simulation, 0.05);
            for impact in &report.impacts {
                let event = reference.next().expect("the reference has this impact");
                let Partner::Sphere(other) = impact.partner else {
                    panic!("there are no walls");
                };
                let pair = [event.a, event.b].map(|k| live[k]);
                assert_eq!(pair, [impact.sphere as usize, other as usize]);
                assert!((event.time - (impact.time - from)).abs() < 1e-9);
                impacts += 1;
            }
        }
        assert_eq!(reference.next(), None);
    }
    assert!(impacts > 150, "{impacts}");
}

fn at_wall(impact: &Impact) -> (u32, u32) {
    match impact.partner {
        Partner::Wall(wall) => (impact.sphere, wall),
        Partner::Sphere(_) => panic!("{impact:?}"),
    }
}

/// A ball flies towards a moving wall that changes its velocity, jumps, and is switched off and on. The times are those of
/// straight motions.
#[test]
fn a_wall_moves_as_it_is_told() {
    let shapes: [fn(f32) -> Wall; 3] = [
        |x| Wall::half_space([-2.0, 0.0, 0.0], -2.0 * x),
        |x| Wall::sphere([x + 1.0, 0.0, 0.0], 1.0),
        |x| Wall::cylinder([x + 1.0, 0.0, 5.0], [0.0, 0.0, 1.0], 1.0),
    ];
    for shape in shapes {
        let ball = HardSphere::new([0.0; 3], 0.5).with_velocity([1.0, 0.0, 0.0]);
        let wall = shape(10.0).with_velocity([-1.0, 0.0, 0.0]);
        let options = SimulationOptions::new()
            .with_walls(Walls::from_iter([wall]))
            .with_impact_list();
        let mut simulation = Simulation::new(vec![ball], options).expect("it is valid");
        assert_eq!(step(&mut simulation, 2.0).wall_impacts, 0);
        // The face is at 8 and stops.
        let velocity = |simulation: &mut Simulation, u: f32| {
            let stop = |walls: &mut Walls| {
                let wall = &mut walls.simple_mut()[0];
                *wall = wall.with_velocity([u, 0.0, 0.0]);
            };
            simulation.edit_walls(stop).expect("it is valid");
        };
        velocity(&mut simulation, 0.0);
        assert_eq!(simulation.walls().simple()[0], shape(8.0));
        assert_eq!(step(&mut simulation, 2.0).wall_impacts, 0);
        velocity(&mut simulation, -0.5);
        let report = step(&mut simulation, 3.0);
        // The ball was at 4 at time 4, so that its front meets the face at 8 − t/2.
        let time = 4.0 + 3.5 / 1.5;
        assert_eq!(at_wall(&report.impacts[0]), (0, 0));
        assert!((report.impacts[0].time - time).abs() < 1e-9);
        // A wall that is put on the way of the ball, at rest.
        let back = simulation.spheres()[0];
        assert!((back.velocity[0] + 2.0).abs() < 1e-9);
        let front = back.center[0] - 0.5;
        let place = (front - 1.0) as f32;
        let jump = |walls: &mut Walls| {
            walls.simple_mut()[0] = Wall::half_space([1.0, 0.0, 0.0], place);
        };
        simulation.edit_walls(jump).expect("it is valid");
        let mut passes = simulation.time();
        simulation.set_wall_enabled(0, false).expect("it is there");
        passes += (front - f64::from(place)) / 2.0;
        assert_eq!(step(&mut simulation, 0.25).wall_impacts, 0);
        simulation.set_wall_enabled(0, true).expect("it is there");
        let report = step(&mut simulation, 1.0);
        assert_eq!(at_wall(&report.impacts[0]), (0, 0));
        assert!((report.impacts[0].time - passes).abs() < 1e-9);
    }
}

/// A trapdoor of triangles opens and a floor beside it stays. A mesh that only gets another velocity goes on from where it
/// is.
#[test]
fn a_door_of_triangles_opens() {
    let square = |low: f32, high: f32| {
        let corners = vec![
            [low, 0.0, -5.0],
            [high, 0.0, -5.0],
            [high, 0.0, 5.0],
            [low, 0.0, 5.0],
        ];
        Mesh::new(corners, vec![[0, 1, 2], [0, 2, 3]]).expect("a valid mesh")
    };
    for periodic in [false, true] {
        let mut walls = Walls::new();
        walls.push_mesh(square(-5.0, 0.0));
        walls.push_mesh(square(0.0, 5.0));
        let balls = [-2.5, 2.5].map(|x| HardSphere::new([x, 0.5, 0.0], 0.5));
        let mut options = SimulationOptions::new()
            .with_walls(walls)
            .with_gravity([0.0, -10.0, 0.0])
            .with_wall_restitution(0.5)
            .with_contact_time(1e-3);
        if periodic {
            let domain = Domain::rectangular([-10.0; 3], [20.0; 3]);
            options = options.with_domain(domain.with_periodic([true, false, true]));
        }
        let mut simulation = Simulation::new(balls.to_vec(), options).expect("it is valid");
        let height = |simulation: &Simulation, k: usize| simulation.spheres()[k].center[1];
        for _ in 0..60 {
            step(&mut simulation, 1.0 / 60.0);
        }
        for k in 0..2 {
            assert!((height(&simulation, k) - 0.5).abs() < 1e-6);
        }
        // The second floor carries its ball upwards by 1, and stops there.
        let velocity = |simulation: &mut Simulation, v: f32| {
            let change = |walls: &mut Walls| {
                let mesh = walls.meshes()[1].clone();
                walls.meshes_mut()[1] = mesh.with_velocity([0.0, v, 0.0]);
            };
            simulation.edit_walls(change).expect("it is valid");
        };
        velocity(&mut simulation, 1.0);
        (0..60).for_each(|_| drop(step(&mut simulation, 1.0 / 60.0)));
        velocity(&mut simulation, 0.0);
        (0..60).for_each(|_| drop(step(&mut simulation, 1.0 / 60.0)));
        assert!((height(&simulation, 1) - 1.5).abs() < 1e-4);
        simulation.set_wall_enabled(3, false).expect("it is there");
        let from = height(&simulation, 1);
        (0..30).for_each(|_| drop(step(&mut simulation, 1.0 / 60.0)));
        // It falls freely from the first substep on.
        assert!(
            (from - height(&simulation, 1) - 1.25).abs() < 1e-6,
            "{periodic}"
        );
        assert!((height(&simulation, 0) - 0.5).abs() < 1e-6);
    }
}

fn inelastic_on_a_floor() -> SimulationOptions {
    let floor = Walls::from_iter([Wall::half_space([0.0, 1.0, 0.0], 0.0)]);
    SimulationOptions::new()
        .with_walls(floor)
        .with_gravity([0.0, -10.0, 0.0])
        .with_restitution(0.0)
        .with_wall_restitution(0.0)
        .with_contact_time(1e-3)
}

/// What lies on a sphere falls when it is removed, and new gravity acts on all that rests.
#[test]
fn what_rests_falls_when_its_support_goes() {
    let options = inelastic_on_a_floor();
    let balls = [0.5, 1.5].map(|y| HardSphere::new([0.0, y, 0.0], 0.5));
    let mut simulation = Simulation::new(balls.to_vec(), options).expect("it is valid");
    for _ in 0..60 {
        step(&mut simulation, 1.0 / 60.0);
    }
    assert_eq!(simulation.kinetic_energy(), 0.0);
    simulation.remove(0).expect("it is there");
    step(&mut simulation, 0.25);
    assert!((simulation.spheres()[1].velocity[1] + 2.5).abs() < 1e-9);
    for _ in 0..60 {
        step(&mut simulation, 1.0 / 60.0);
    }
    assert!((simulation.spheres()[1].center[1] - 0.5).abs() < 1e-6);
    simulation
        .set_gravity([0.0, 4.0, 0.0])
        .expect("it is valid");
    let from = simulation.spheres()[1].center[1];
    step(&mut simulation, 1.0);
    assert!((simulation.spheres()[1].center[1] - from - 2.0).abs() < 1e-9);
}

/// What loses its support falls from the beginning of the step, and hits what is beside its way.
#[test]
fn what_falls_hits_what_is_below_it() {
    for is_wall in [false, true] {
        let floor = Wall::half_space([0.0, 1.0, 0.0], if is_wall { 1.0 } else { 0.0 });
        let options = SimulationOptions::new()
            .with_walls(Walls::from_iter([floor]))
            .with_gravity([0.0, -10.0, 0.0])
            .with_restitution(0.0)
            .with_wall_restitution(0.0)
            .with_impact_list()
            .with_contact_time(1e-3);
        let shelf = HardSphere::new([0.36, 1.0, 0.0], 0.1).fixed();
        let mut balls = vec![HardSphere::new([0.0, 1.5, 0.0], 0.5), shelf];
        if !is_wall {
            balls.push(HardSphere::new([0.0, 0.5, 0.0], 0.5));
        }
        let mut simulation = Simulation::new(balls, options).expect("it is valid");
        // Afterwards, a step is a single substep.
        for _ in 0..9 {
            step(&mut simulation, 2.0);
        }
        assert_eq!(simulation.kinetic_energy(), 0.0);
        if is_wall {
            let nothing = |walls: &mut Walls| *walls = Walls::new();
            simulation.edit_walls(nothing).expect("it is valid");
        } else {
            simulation.remove(2).expect("it is there");
        }
        // The ball meets the shelf after a fall of 0.02, in the first substep, and slides down beside it. The overlap is
        // of the third order in the length of a substep.
        let report = step(&mut simulation, 0.25);
        let fall = report.impacts[0].time - 18.0;
        assert!((fall - 0.004_f64.sqrt()).abs() < 1e-9, "{is_wall}: {fall}");
        let [ball, shelf] = [0, 1].map(|k| DVec3::from(simulation.spheres()[k].center));
        assert!(ball.distance(shelf) > 0.6 - 1e-5, "{is_wall}: {ball}");
    }
}

/// A sphere that a rule removes leaves a hole like any other.
#[test]
fn holes_are_used_again_from_the_first_on() {
    let balls = [0.0, 2.0, 4.0, 6.0].map(|x| HardSphere::new([x, 0.0, 0.0], 0.5));
    let options = SimulationOptions::new().with_groups(vec![1 | 1 << 16, 1 | 1 << 16, 1 << 16, 0]);
    let mut simulation = Simulation::new(balls.to_vec(), options).expect("it is valid");
    let kick = |spheres: &mut [HardSphere]| spheres[3].velocity = [-4.0, 0.0, 0.0];
    simulation.edit(kick).expect("it is valid");
    let rule = |_: &Encounter| Response::Each([Outcome::Remove, Outcome::Velocity([0.0; 3])]);
    let report = simulation.step_with(1.0, &rule).expect("it is possible");
    assert_eq!(report.removed[0].sphere, 2);
    let far = |x: f64| HardSphere::new([x, 0.0, 0.0], 0.5).with_velocity([-1.0, 0.0, 0.0]);
    assert_eq!(simulation.add(far(20.0)), Ok(2));
    simulation.remove(1).expect("it is there");
    step(&mut simulation, 0.125);
    assert_eq!([1.5, 30.0].map(|x| simulation.add(far(x))), [Ok(1), Ok(4)]);
    // Index 1 belonged to a group that ignores itself, which the new sphere does not.
    assert_eq!(step(&mut simulation, 1.0).sphere_impacts, 1);
}

#[test]
fn edits_out_of_range_are_named_and_change_nothing() {
    let mut rng = Rng::with_seed(3);
    let world = World::new(&mut rng, false);
    let mut simulation = world.simulation();
    simulation.remove(4).expect("it is there");
    let before = bits(&simulation);
    let refused = |result: Result<(), Error>, words: &str| {
        let message = result.expect_err(words).to_string();
        assert!(message.contains(words), "{message}");
    };
    let bad = HardSphere::new([f64::NAN, 0.0, 0.0], 1.0);
    refused(
        simulation.add(bad).map(drop),
        "sphere 4 of the simulation is invalid: its center.x is NaN",
    );
    refused(simulation.remove(4).map(drop), "sphere 4 is removed");
    refused(simulation.remove(30).map(drop), "there are 30 spheres");
    refused(simulation.set_groups(30, 1), "there are 30 spheres");
    refused(simulation.set_body(4, Some(1)), "sphere 4 is removed");
    refused(
        simulation.set_gravity([0.0, f64::NAN, 0.0]),
        "the gravity along y is NaN",
    );
    refused(simulation.set_restitution(1.5), "the restitution is 1.5");
    refused(
        simulation.set_wall_restitution(-0.5),
        "the restitution of walls is -0.5",
    );
    refused(
        simulation.set_contact_time(-1.0),
        "the contact time is -1.0",
    );
    refused(simulation.set_wall_enabled(11, false), "there are 11 walls");
    let flat = |walls: &mut Walls| {
        *walls = Walls::from_iter([WallShape::HalfSpace {
            normal: [0.0; 3],
            offset: 0.0,
        }]);
    };
    refused(
        simulation.edit_walls(flat),
        "wall 0 is invalid: its normal is 0",
    );
    assert_eq!(simulation.walls(), world.walls);
    assert_eq!(bits(&simulation), before);
    let mut anew = world.simulation();
    anew.remove(4).expect("it is there");
    let [found, expected] = [&mut simulation, &mut anew].map(|simulation| step(simulation, 0.5));
    assert_eq!(found, expected);
    assert_eq!(bits(&simulation), bits(&anew));
}

/// What happens in some steps from now on, on a number of threads: the reports and the states.
fn history(simulation: &mut Simulation, threads: usize) -> Vec<String> {
    let rule = |encounter: &Encounter| match encounter.partner {
        Partner::Sphere(other) if (encounter.sphere + other).is_multiple_of(5) => Response::Ignore,
        _ => Response::Bounce,
    };
    with_threads(threads, || {
        let steps = (0..6).map(|k| {
            let duration = [0.02, 0.1, 0.004][k % 3];
            let report = match k {
                2 | 3 => simulation.step_with(duration, &rule),
                _ => simulation.step(duration),
            };
            format!("{report:?} {:?}", bits(simulation))
        });
        steps.collect()
    })
}

fn written(simulation: &Simulation) -> (String, Vec<u8>) {
    let text = serde_json::to_string(simulation).expect("it can be written");
    let bytes = bincode::serialize(simulation).expect("it can be written");
    (text, bytes)
}

fn read(text: &str) -> Result<Simulation, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Balls that come to rest, of very different sizes, some of them fixed.
fn pile(rng: &mut Rng) -> World {
    let mut world = World::new(rng, false);
    let balls = (0..60).map(|k| {
        let place = [k % 4, k / 4 % 4, k / 16].map(|n| 0.8 + 1.3 * f64::from(n) + 0.1 * rng.f64());
        HardSphere::new(place, 0.1 + 0.5 * rng.f64()).with_mass(1.0 + f64::from(k))
    });
    world.spheres = balls.collect();
    world.removed = vec![false; 60];
    world.groups = vec![0; 60];
    world.bodies = vec![None; 60];
    world.gravity = [0.0, 0.0, -9.8];
    world.restitution = [0.3, 0.4];
    world.contact_time = 1e-3;
    world
}

/// More spheres than the rows of candidates have in one chunk, in a periodic cell, with a few wide ones.
fn gas(rng: &mut Rng) -> World {
    let mut world = World::new(rng, true);
    let balls = (0..700).map(|k| {
        let radius = if k % 100 == 0 {
            0.6
        } else {
            0.02 + 0.03 * rng.f64()
        };
        HardSphere {
            radius,
            ..ball(rng)
        }
    });
    world.spheres = balls.collect();
    world.removed = vec![false; 700];
    world.groups = vec![0; 700];
    world.bodies = vec![None; 700];
    world
}

/// Saved after random steps and edits, as text or as bytes, a simulation goes on with the same bytes as without a break,
/// on any number of threads. So does a copy.
#[test]
fn a_saved_simulation_goes_on_with_the_same_bytes() {
    let mut rng = Rng::with_seed(9);
    let mut impacts = 0;
    for round in 0..12 {
        let mut world = match round % 4 {
            0 => pile(&mut rng),
            1 => gas(&mut rng),
            _ => World::new(&mut rng, round % 4 == 3),
        };
        let mut simulation = world.simulation();
        for save in 0..6 {
            if save % 2 == 1 {
                (0..10).for_each(|_| world.edit_any(&mut simulation, &mut rng));
            }
            let (text, bytes) = written(&simulation);
            let mut copies = vec![simulation.clone(), read(&text).expect("it can be read")];
            copies.push(bincode::deserialize(&bytes).expect("it can be read"));
            assert!(copies.iter().all(|copy| bits(copy) == bits(&simulation)));
            assert_eq!(written(&copies[1]), (text, bytes), "{round}");
            let expected = history(&mut simulation, 2);
            for (copy, threads) in copies.iter_mut().zip([1, 2, 7]) {
                let found = history(copy, threads);
                for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    assert_eq!(found, expected, "round {round}, save {save}, step {k}");
                }
            }
            impacts += expected
                .iter()
                .map(|step| step.matches("Impact {").count())
                .sum::<usize>();
        }
    }
    assert!(impacts > 3000, "{impacts}");
}

/// Two columns of balls side by side, and a ball that slides slowly. A ball falls on the second column from high above.
fn columns() -> Simulation {
    let column = |x: f64| [0.5, 1.6, 2.7].map(|z| HardSphere::new([x, 0.0, z], 0.5));
    let others = [
        HardSphere::new([-6.0, 0.0, 0.5], 0.5).with_velocity([1e-3, 0.0, 0.0]),
        HardSphere::new([6.1, 0.2, 30.0], 0.4),
    ];
    let spheres: Vec<_> = [column(0.0), column(6.0)].concat();
    let options = SimulationOptions::new()
        .with_walls(Walls::inside_box([-8.0, -4.0, 0.0], [10.0, 4.0, 40.0]))
        .with_gravity([0.0, 0.0, -9.8])
        .with_restitution(0.2)
        .with_wall_restitution(0.2)
        .with_contact_time(1e-3)
        .with_impact_list()
        .with_contact_changes();
    Simulation::new([spheres, others.to_vec()].concat(), options).expect("it is valid")
}

/// Saved at any time while some balls come to rest, fall asleep and are woken, a simulation goes on with the same bytes.
#[test]
fn a_pile_that_is_saved_asleep_goes_on_with_the_same_bytes() {
    let frame = 1.0 / 30.0;
    let record = |simulation: &mut Simulation| {
        let report = step(simulation, frame);
        format!("{report:?} {:?}", bits(simulation))
    };
    let mut simulation = columns();
    let (mut copies, mut history, mut partly) = (Vec::new(), Vec::new(), 0);
    for _ in 0..110 {
        let still = |sphere: &&HardSphere| sphere.velocity == [0.0; 3];
        let still = simulation.spheres().iter().filter(still).count();
        partly += usize::from(still > 3 && still < simulation.spheres().len());
        copies.push(written(&simulation).1);
        history.push(record(&mut simulation));
    }
    assert!(partly > 50, "{partly}");
    assert!(simulation.spheres()[7].center[2] < 5.0);
    for (k, bytes) in copies.iter().enumerate() {
        let mut copy: Simulation = bincode::deserialize(bytes).expect("it can be read");
        for (later, expected) in history[k..].iter().enumerate().take(20) {
            assert_eq!(
                &record(&mut copy),
                expected,
                "saved at {k}, {later} steps on"
            );
        }
    }
}

type Edit = fn(&mut Simulation) -> Result<(), Error>;

/// Three balls on a floor that sleep: an hour is one substep.
fn sleeping_column() -> Simulation {
    let options = inelastic_on_a_floor();
    let column = [0.5, 1.5, 2.5].map(|y| HardSphere::new([0.0, y, 0.0], 0.5));
    let mut simulation = Simulation::new(column.to_vec(), options).expect("it is valid");
    (0..60).for_each(|_| drop(step(&mut simulation, 1.0 / 60.0)));
    assert_eq!(step(&mut simulation, 3600.0).substeps, 1);
    simulation
}

/// Balls that sleep feel an edit at once: one that another ball does not meet any more falls through it.
#[test]
fn an_edit_wakes_what_sleeps() {
    let edits: [Edit; 4] = [
        |simulation| {
            simulation.set_groups(0, 1)?;
            simulation.set_groups(1, 1 << 16)
        },
        |simulation| {
            simulation.set_body(0, Some(0))?;
            simulation.set_body(1, Some(0))
        },
        |simulation| simulation.edit(|spheres| spheres[0].center[0] = 5.0),
        |simulation| simulation.remove(0).map(drop),
    ];
    for edit in edits {
        let mut simulation = sleeping_column();
        edit(&mut simulation).expect("it is valid");
        step(&mut simulation, 0.25);
        for (ball, height) in simulation.spheres()[1..].iter().zip([1.5, 2.5]) {
            assert!((ball.center[1] - height + 0.3125).abs() < 1e-6, "{ball:?}");
        }
    }
}

/// Edits that set what is there already, and edits that are refused.
fn edit_nothing(simulation: &mut Simulation, world: &World) {
    let same = |walls: &mut Walls| {
        let meshes = walls.meshes_mut();
        // A mesh that does not move may be another one with the same vertices.
        let (vertices, triangles) = (meshes[0].vertices(), meshes[0].triangles());
        let anew = Mesh::new(vertices.to_vec(), triangles.to_vec()).expect("a valid mesh");
        meshes[0] = anew.with_velocity(meshes[0].velocity());
    };
    let nan = HardSphere::new([f64::NAN; 3], 1.0);
    let sphere = (0..)
        .find(|&k| !simulation.is_removed(k))
        .expect("one is there");
    type OwnEdit<'a> = &'a dyn Fn(&mut Simulation) -> Result<(), Error>;
    let edits: [(&str, OwnEdit<'_>); 12] = [
        ("edit", &|all| all.edit(|_| {})),
        ("edit_walls", &|all| all.edit_walls(|_| {})),
        ("edit_walls by others", &|all| all.edit_walls(same)),
        ("set_wall_enabled", &|all| {
            all.set_wall_enabled(0, !world.off[0])
        }),
        ("set_groups", &|all| {
            all.set_groups(sphere, world.groups[sphere])
        }),
        ("set_body", &|all| {
            all.set_body(sphere, world.bodies[sphere])
        }),
        ("set_restitution", &|all| {
            all.set_restitution(world.restitution[0])
        }),
        ("set_wall_restitution", &|all| {
            all.set_wall_restitution(world.restitution[1])
        }),
        ("set_contact_time", &|all| {
            all.set_contact_time(world.contact_time)
        }),
        ("set_gravity", &|all| all.set_gravity(world.gravity)),
        ("a refused edit", &|all| {
            all.edit(|spheres| spheres[sphere] = nan)
        }),
        ("a refused number", &|all| all.set_restitution(1.5)),
    ];
    let before = written(simulation);
    for (name, edit) in edits {
        let result = edit(simulation);
        assert_eq!(result.is_err(), name.contains("refused"), "{name}");
        assert_eq!(written(simulation), before, "{name}");
    }
}

/// An edit that changes nothing, or that is refused, wakes nothing and discards nothing: a simulation that is written after
/// it is the same, byte for byte, as before.
#[test]
fn edits_of_nothing_change_nothing() {
    let mut rng = Rng::with_seed(45);
    for round in 0..4 {
        let world = match round {
            0 => pile(&mut rng),
            1 => gas(&mut rng),
            _ => World::new(&mut rng, round == 3),
        };
        let mut simulation = world.simulation();
        for _ in 0..20 {
            edit_nothing(&mut simulation, &world);
            step(&mut simulation, 0.05);
        }
    }
    let mut asleep = sleeping_column();
    asleep.set_restitution_of(0, 0.0).expect("it is valid");
    step(&mut asleep, 1.0);
    let before = written(&asleep);
    asleep.set_restitution_of(0, 0.0).expect("it is valid");
    assert_eq!(written(&asleep), before);
    assert_eq!(asleep.separate(10), Ok(0));
    assert_eq!(step(&mut asleep, 3600.0).substeps, 1);
}

/// A wall that has moved is put back to where it was given, with the same shape and velocity.
#[test]
fn a_wall_that_is_put_back_jumps() {
    let lift = Wall::half_space([0.0, 1.0, 0.0], 0.0).with_velocity([0.0, 1.0, 0.0]);
    let options = SimulationOptions::new().with_walls(Walls::from_iter([lift]));
    let ball = HardSphere::new([0.0, 4.0, 0.0], 1.0);
    let mut simulation = Simulation::new(vec![ball], options).expect("it is valid");
    for _ in 0..4 {
        // It would meet the ball at time 3.
        assert_eq!(step(&mut simulation, 2.0).wall_impacts, 0);
        let back = |walls: &mut Walls| walls.simple_mut()[0] = lift;
        simulation.edit_walls(back).expect("it is valid");
    }
    assert_eq!(step(&mut simulation, 4.0).wall_impacts, 1);
}

/// What loses its support by an edit falls on the floor and stays there, however long the next step is, and so does what
/// rests on it.
#[test]
fn what_loses_its_support_falls_on_the_floor() {
    let edits: [(f64, Edit); 7] = [
        (0.0, |simulation| simulation.remove(0).map(drop)),
        (0.0, |simulation| {
            simulation.edit(|spheres| spheres[0].center[0] = 5.0)
        }),
        (0.0, |simulation| {
            simulation.set_groups(0, 1)?;
            simulation.set_groups(1, 1 << 16)
        }),
        (0.0, |simulation| {
            simulation.set_body(0, Some(0))?;
            simulation.set_body(1, Some(0))
        }),
        (0.2, |simulation| simulation.set_wall_enabled(1, false)),
        (0.2, |simulation| {
            simulation.edit_walls(|walls| {
                walls.simple_mut()[1] = Wall::half_space([0.0, 1.0, 0.0], -1.0);
            })
        }),
        (0.2, |simulation| {
            simulation.edit_walls(|walls| *walls = Walls::from_iter([walls.simple()[0]]))
        }),
    ];
    for (k, (shelf, edit)) in edits.into_iter().enumerate() {
        let floors = [0.0, shelf as f32];
        let floors = floors.map(|height| Wall::half_space([0.0, 1.0, 0.0], height));
        let options = SimulationOptions::new()
            .with_walls(Walls::from_iter(floors))
            .with_gravity([0.0, -10.0, 0.0])
            .with_restitution(0.0)
            .with_wall_restitution(0.0)
            .with_contact_time(1e-3);
        // Two balls on a pebble, or beside it on a shelf.
        let pebble = HardSphere::new([10.0 * shelf, 0.1 + shelf, 0.0], 0.1);
        let balls = [0.7, 1.7].map(|y| HardSphere::new([0.0, y, 0.0], 0.5));
        let all = vec![pebble, balls[0], balls[1]];
        let mut simulation = Simulation::new(all, options).expect("it is valid");
        (0..10).for_each(|_| drop(step(&mut simulation, 1.0)));
        let place = simulation.spheres()[1].center[1];
        assert!((place - 0.7).abs() < 1e-6, "{k}: {place}");
        edit(&mut simulation).expect("it is valid");
        step(&mut simulation, 2.0);
        for (ball, height) in simulation.spheres()[1..].iter().zip([0.5, 1.5]) {
            assert!((ball.center[1] - height).abs() < 1e-3, "{k}: {ball:?}");
            assert_eq!(ball.velocity[1], 0.0, "{k}");
        }
    }
}

/// Every word of a snapshot is protected. A snapshot that is cut off, edited, or of another version is an error that says
/// so. One that is forged with a right checksum is an error, or a simulation whose steps end.
#[test]
fn a_snapshot_that_is_not_whole_is_an_error() {
    let mut rng = Rng::with_seed(1);
    let others = [pile(&mut rng), World::new(&mut rng, true)];
    let others = others.map(|world| world.simulation());
    for mut simulation in others.into_iter().chain([columns()]) {
        (0..3).for_each(|_| drop(simulation.step(0.05).expect("it is possible")));
        let (text, bytes) = written(&simulation);
        let whole: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let refused = |value: &serde_json::Value, words: &str| {
            let problem = read(&value.to_string()).expect_err(words);
            assert!(
                problem.contains("the snapshot of a simulation is invalid"),
                "{problem}"
            );
            assert!(problem.contains(words), "{problem}");
        };
        let words: Vec<u64> = serde_json::from_value(whole["words"].clone()).expect("words");
        let first = bytes.len() - 8 * words.len();
        for k in 0..words.len() {
            let mut edited = bytes.clone();
            edited[first + 8 * k + rng.usize(0..8)] ^= 1 << rng.u32(0..8);
            let problem = bincode::deserialize::<Simulation>(&edited).expect_err("it is edited");
            assert!(
                problem.to_string().contains("changed or cut off"),
                "{problem}"
            );
        }
        for length in [0, 1, words.len() / 2, words.len() - 1] {
            let mut cut = whole.clone();
            cut["words"] = words[..length].into();
            refused(&cut, "changed or cut off");
        }
        let mut other = whole.clone();
        other["carom"] = "0.0.9".into();
        refused(&other, "carom 0.0.9 wrote it");
        let mut other = whole.clone();
        other["format"] = 0.into();
        refused(&other, "in format 0");
        for length in (0..first).chain((first..bytes.len()).step_by(13)) {
            assert!(bincode::deserialize::<Simulation>(&bytes[..length]).is_err());
        }
        let mut read_anyway = 0;
        for _ in 0..700 {
            let mut forged = words.clone();
            let k = rng.usize(0..words.len());
            forged[k] = match rng.u32(0..4) {
                0 => rng.u64(..),
                1 => rng.u64(0..100),
                2 => f64::NAN.to_bits(),
                _ => words[k] ^ 1 << rng.u32(0..64),
            };
            let start = forged.len() as u64 ^ 0x243f_6a88_85a3_08d3;
            let sum = forged.iter().fold(start, |sum, word| {
                let sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                sum ^ sum >> 29
            });
            let mut edited = bytes[..first - 16].to_vec();
            edited.extend(sum.to_le_bytes());
            edited.extend((forged.len() as u64).to_le_bytes());
            edited.extend(forged.iter().flat_map(|word| word.to_le_bytes()));
            if let Ok(mut simulation) = bincode::deserialize::<Simulation>(&edited) {
                read_anyway += 1;
                let left = AtomicU32::new(3);
                let go_on = || left.fetch_sub(1, Ordering::Relaxed) > 0;
                let _ = simulation.step_while(1e-6, None, &go_on);
            }
        }
        assert!(read_anyway > 100, "{read_anyway}");
    }
}

/// A sphere of infinite mass survives a round trip through JSON, which has no infinite numbers, and through a binary format.
#[test]
fn infinite_masses_are_written() {
    for ball in [
        HardSphere::new([1.0, 2.0, 0.1], 0.5),
        HardSphere::new([0.0; 3], 1.0).fixed(),
    ] {
        let text = serde_json::to_string(&ball).expect("it can be written");
        assert_eq!(
            serde_json::from_str::<HardSphere>(&text).expect("it can be read"),
            ball
        );
        let bytes = bincode::serialize(&ball).expect("it can be written");
        assert_eq!(
            bincode::deserialize::<HardSphere>(&bytes).expect("it can be read"),
            ball
        );
    }
    let text = serde_json::to_string(&HardSphere::new([0.0; 3], 1.0).fixed()).expect("written");
    assert!(text.contains(r#""mass":"infinite""#), "{text}");
    let wrong = text.replace("infinite", "heavy");
    let problem = serde_json::from_str::<HardSphere>(&wrong).expect_err("it is no number");
    assert!(problem.to_string().contains("infinite"), "{problem}");
}
