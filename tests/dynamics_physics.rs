//! Compares simulations of hard spheres with statistical physics.

#![allow(
    clippy::cast_possible_truncation,
    reason = "the edge of a domain is a float32"
)]

#[path = "../examples/hard_spheres/fluid.rs"]
mod fluid;

use carom::{Simulation, SimulationOptions};
use fluid::{Fluid, impact_rate, kolafa};
use glam::DVec3;

fn simulation(fluid: &Fluid, options: SimulationOptions) -> Simulation {
    let options = options.with_domain(fluid.domain);
    Simulation::new(fluid.spheres.clone(), options).expect("a valid fluid")
}

/// Runs a simulation until each sphere has had `impacts` impacts on average. Returns the total number of
/// impacts and the total virial.
fn run(simulation: &mut Simulation, eta: f64, impacts: f64) -> (u64, f64) {
    let enough = impacts * simulation.spheres().len() as f64 / 2.0;
    let (mut count, mut virial) = (0, 0.0);
    while (count as f64) < enough {
        let report = simulation
            .step(1.0 / impact_rate(eta))
            .expect("the step succeeds");
        count += report.sphere_impacts;
        virial += report.virial;
    }
    (count, virial)
}

/// Returns the compressibility factor, measured over a number of impacts of each sphere.
fn compressibility(spheres: u32, eta: f64, seed: u64, impacts: f64) -> f64 {
    let fluid = Fluid::new(spheres, eta, seed);
    let mut simulation = simulation(&fluid, SimulationOptions::new());
    // The crystal melts slowly if the fluid is dense.
    run(&mut simulation, eta, if eta > 0.42 { 300.0 } else { 30.0 });
    let from = simulation.time();
    let (_, virial) = run(&mut simulation, eta, impacts);
    1.0 + virial / (2.0 * simulation.kinetic_energy() * (simulation.time() - from))
}

#[test]
fn the_pressure_is_that_of_kolafas_equation() {
    for (eta, impacts) in [(0.1, 60.0), (0.4, 80.0)] {
        let z = compressibility(1372, eta, 1, impacts);
        let error = z / kolafa(eta) - 1.0;
        assert!(
            error.abs() < 0.015,
            "Z is {z} at a packing fraction of {eta}"
        );
    }
}

#[test]
#[ignore = "takes minutes; run it with `--ignored --nocapture`"]
fn the_pressure_is_that_of_kolafas_equation_in_long_runs() {
    for eta in [0.1, 0.2, 0.3, 0.4, 0.45] {
        let seeds = [1, 2, 3, 4].map(|seed| compressibility(16_384, eta, seed, 100.0));
        let z = seeds.iter().sum::<f64>() / 4.0;
        let error = z / kolafa(eta) - 1.0;
        println!(
            "{eta}: Z = {z:.4}, Kolafa {:.4}, {:+.3} %",
            kolafa(eta),
            100.0 * error
        );
        assert!(error.abs() < 0.003);
    }
}

/// Spheres that start with equal speeds reach the Maxwell distribution: the kurtosis of the velocity
/// components becomes 3, and the mean speed becomes √(8/(3π)) times the root mean square speed.
#[test]
fn equal_speeds_become_the_maxwell_distribution() {
    let mut fluid = Fluid::new(4000, 0.3, 1);
    for sphere in &mut fluid.spheres {
        let direction = DVec3::from(sphere.velocity).normalize();
        sphere.velocity = (direction * 3_f64.sqrt()).to_array();
    }
    let mut simulation = simulation(&fluid, SimulationOptions::new());
    run(&mut simulation, 0.3, 20.0);
    let (mut samples, mut speeds, mut squares, mut fourths) = (0.0, 0.0, 0.0, 0.0);
    for _ in 0..10 {
        run(&mut simulation, 0.3, 2.0);
        for sphere in simulation.spheres() {
            samples += 1.0;
            speeds += DVec3::from(sphere.velocity).length();
            squares += DVec3::from(sphere.velocity).length_squared();
            fourths += sphere.velocity.map(|v| v.powi(4)).iter().sum::<f64>();
        }
    }
    let square: f64 = squares / samples;
    let kurtosis = fourths / samples / 3.0 / (square / 3.0).powi(2);
    assert!((kurtosis - 3.0).abs() < 0.1, "{kurtosis}");
    let ratio = speeds / samples / square.sqrt();
    let expected = (8.0 / 3.0 / std::f64::consts::PI).sqrt();
    assert!(
        (ratio - expected).abs() < 0.003,
        "{ratio} instead of {expected}"
    );
}

/// Returns the time constant of Haff's law, fitted to a cooling gas, relative to its theoretical value.
fn haff(spheres: u32, eta: f64, restitution: f64) -> f64 {
    let mut fluid = Fluid::new(spheres, eta, 1);
    let mut gas = simulation(&fluid, SimulationOptions::new());
    run(&mut gas, eta, 10.0);
    fluid.spheres = gas.spheres().to_vec();
    let options = SimulationOptions::new().with_restitution(restitution);
    let mut gas = simulation(&fluid, options);
    let energy = gas.kinetic_energy();
    // The function `impact_rate` returns the mean number of impacts of a sphere in a unit of time
    // at temperature 1. This number is proportional to the square root of the temperature.
    let temperature = energy / (1.5 * f64::from(spheres));
    let rate = impact_rate(eta) * temperature.sqrt();
    let tau = 6.0 / ((1.0 - restitution.powi(2)) * rate);
    // Haff's law for a cooling granular gas is √(T₀/T) = 1 + t/τ, where T is the temperature at the time t,
    // T₀ that at the start, and τ the cooling time. A line 1 + a·t/τ is fitted to the simulation by least
    // squares, and 1/a is returned.
    let (mut products, mut squares) = (0.0, 0.0);
    for _ in 0..40 {
        let report = gas.step(tau / 20.0).expect("the step succeeds");
        let x = gas.time() / tau;
        let y = (energy / report.kinetic_energy).sqrt() - 1.0;
        products += x * y;
        squares += x * x;
    }
    squares / products
}

#[test]
fn an_inelastic_gas_cools_by_haffs_law() {
    let ratio = haff(4000, 0.05, 0.95);
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}

#[test]
#[ignore = "takes a minute; run it with `--ignored --nocapture`"]
fn a_large_inelastic_gas_cools_by_haffs_law() {
    let ratio = haff(10_000, 0.02, 0.98);
    println!("the fitted time constant is {ratio:.4} of the theoretical one");
    assert!((ratio - 1.0).abs() < 0.03);
}
