//! Tests the simulation of hard spheres against a plain event-driven simulation, and against cases with a known
//! sequence of impacts.

#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers of spheres are small"
)]

#[path = "../backends/mod.rs"]
mod backends;
#[path = "../event_driven/mod.rs"]
mod event_driven;
mod order;
mod overlaps;
mod rules;
mod sequences;
mod steps;

use carom::{Domain, HardSphere, Impact, Partner, Simulation, SimulationOptions, StepReport};
use event_driven::Ball;
use fastrand::Rng;
use glam::DVec3;

fn normal(rng: &mut Rng) -> f64 {
    let (u, v) = (1.0 - rng.f64(), rng.f64());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Returns spheres of diameter 1 on a cubic lattice, with random velocities and without total momentum, and the
/// edge of their cell.
fn lattice(per_edge: usize, packing: f64, seed: u64) -> (Vec<HardSphere>, f64) {
    let mut rng = Rng::with_seed(seed);
    let count = per_edge.pow(3);
    let edge = (count as f64 * std::f64::consts::PI / 6.0 / packing).cbrt();
    // Float32 cannot hold every edge length, so the edge of the domain is rounded.
    let edge = f64::from(edge as f32);
    let step = edge / per_edge as f64;
    let mut spheres = Vec::with_capacity(count);
    for index in 0..count {
        let place = [
            index % per_edge,
            index / per_edge % per_edge,
            index / per_edge.pow(2),
        ];
        let center = DVec3::from(place.map(|k| (k as f64 + 0.5) * step));
        let velocity = DVec3::from([0; 3].map(|_| normal(&mut rng)));
        spheres.push(HardSphere::new(center, 0.5).with_velocity(velocity));
    }
    let mean = spheres
        .iter()
        .map(|sphere| DVec3::from(sphere.velocity))
        .sum::<DVec3>()
        / count as f64;
    for sphere in &mut spheres {
        sphere.velocity = (DVec3::from(sphere.velocity) - mean).to_array();
    }
    (spheres, edge)
}

fn periodic(edge: f64) -> SimulationOptions {
    SimulationOptions::new().with_domain(Domain::rectangular([0.0; 3], [edge as f32; 3]))
}

/// Returns a fluid of spheres in equilibrium, and the edge of its cell.
fn fluid(per_edge: usize, packing: f64, seed: u64) -> (Vec<HardSphere>, f64) {
    let (spheres, edge) = lattice(per_edge, packing, seed);
    let count = spheres.len() as u64;
    let mut simulation = Simulation::new(spheres, periodic(edge)).expect("a valid fluid");
    let mut impacts = 0;
    while impacts < 5 * count {
        impacts += step(&mut simulation, 0.05).sphere_impacts;
    }
    (simulation.spheres().to_vec(), edge)
}

fn step(simulation: &mut Simulation, duration: f64) -> StepReport {
    simulation.step(duration).expect("the step succeeds")
}

fn balls(spheres: &[HardSphere]) -> Vec<Ball> {
    let ball = |sphere: &HardSphere| Ball {
        place: sphere.center,
        velocity: sphere.velocity,
        radius: sphere.radius,
        mass: sphere.mass,
    };
    spheres.iter().map(ball).collect()
}

fn other(impact: &Impact) -> usize {
    match impact.partner {
        Partner::Sphere(other) => other as usize,
        Partner::Wall(wall) => panic!("there is no wall {wall}"),
    }
}

/// Adds an impact to the lists of partners of both spheres.
fn note(partners: &mut [Vec<usize>], a: usize, b: usize) {
    partners[a].push(b);
    partners[b].push(a);
}
