//! Tests simulations of hard spheres with walls and gravity.

#![allow(
    clippy::cast_possible_truncation,
    reason = "random numbers are rounded to float32"
)]

#[path = "../backends/mod.rs"]
mod backends;
mod contacts;
#[path = "../meshes/mod.rs"]
mod meshes;
mod periodic;
mod simple;
mod triangles;

use carom::{HardSphere, Partner, Simulation, SimulationOptions, StepReport, Wall, Walls};
use fastrand::Rng;
use glam::DVec3;

fn simulation(spheres: &[HardSphere], options: SimulationOptions) -> Simulation {
    Simulation::new(spheres.to_vec(), options).expect("a valid simulation")
}

fn step(simulation: &mut Simulation, duration: f64) -> StepReport {
    simulation.step(duration).expect("the step succeeds")
}

fn with_walls(walls: impl IntoIterator<Item = Wall>) -> SimulationOptions {
    SimulationOptions::new().with_walls(Walls::from_iter(walls))
}

fn rounded(x: f64) -> f64 {
    (x * 1e9).round() / 1e9
}

/// Returns the time, the sphere and the wall of each impact at a wall. The times are rounded to
/// multiples of 10⁻⁹, so that tests can compare them for equality.
fn at_walls(report: &StepReport) -> Vec<(f64, u32, u32)> {
    let wall = |partner| match partner {
        Partner::Wall(wall) => Some(wall),
        Partner::Sphere(_) => None,
    };
    let impacts = report.impacts.iter();
    let at_walls = impacts
        .filter_map(|impact| Some((rounded(impact.time), impact.sphere, wall(impact.partner)?)));
    at_walls.collect()
}

fn random(rng: &mut Rng) -> DVec3 {
    DVec3::from([0; 3].map(|_| 2.0 * rng.f64() - 1.0))
}
