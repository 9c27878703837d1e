//! Measures the equation of state of hard spheres: the pressure of an event-driven simulation.
//!
//! `cargo run --release --example hard_spheres -- --eta 0.3 --n 16384 --impacts 100 --backend cpu --json`
//!
//! The spheres have diameter 1 and mass 1. They start from a face-centred cubic crystal with random velocities,
//! melt, and then move until each has had the given number of impacts. The result is the compressibility
//! factor Z = P·V / (N·k·T), beside the value of Kolafa's equation. This makes a plot of several packing fractions:
//!
//! `cargo run --release --example hard_spheres -- --eta 0.1,0.2,0.3,0.4,0.45 --plot hard_spheres.svg`

#[path = "../drawing/mod.rs"]
mod drawing;
mod fluid;
mod overlap;
mod plot;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use carom::glam::DVec3;
use carom::{Error, HardSphere, Simulation, SimulationOptions};
use clap::{Parser, ValueEnum};
use serde::Serialize;

use crate::fluid::{Fluid, impact_rate, kolafa};
use crate::overlap::Overlaps;

#[derive(Parser)]
#[command(about = "Measures the equation of state of hard spheres")]
struct Args {
    /// Packing fractions: the shares of the volume that the spheres fill, from 0.001 to 0.49.
    #[arg(long, default_value = "0.3", value_delimiter = ',', value_parser = packing)]
    eta: Vec<f64>,
    /// Number of spheres.
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u32).range(32..=10_000_000))]
    n: u32,
    /// Number of impacts of each sphere in the measured part of the run.
    #[arg(long, default_value_t = 100.0)]
    impacts: f64,
    /// Number of impacts of each sphere before the measured part. The crystal melts slowly at packing fractions
    /// above 0.42, which take about 300.
    #[arg(long, default_value_t = 30.0)]
    equilibrate: f64,
    /// Seed of the velocities.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Backend of the simulation.
    #[arg(long, value_enum, default_value = "cpu")]
    backend: Backend,
    /// Number of threads, or 0 for all.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Mean number of impacts of each sphere in a substep.
    #[arg(long)]
    h: Option<f64>,
    /// Omit the search for overlaps after each step.
    #[arg(long)]
    no_check: bool,
    /// Print one JSON object for each packing fraction.
    #[arg(long)]
    json: bool,
    /// Write a plot of the measured compressibility factors beside Kolafa's equation.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Backend {
    Cpu,
}

#[derive(Serialize)]
struct Measured {
    eta: f64,
    z: f64,
    kolafa: f64,
    /// Change of the energy, relative to the energy.
    energy_drift: f64,
    /// Change of the momentum, relative to the sum of all |momenta|.
    momentum_drift: f64,
    /// Deepest overlap after any step, in radii.
    deepest_overlap: f64,
    events: u64,
    events_per_second: f64,
    substeps: u64,
    largest_island: usize,
}

fn packing(text: &str) -> Result<f64, String> {
    let eta = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.001..=0.49).contains(&eta) {
        Ok(eta)
    } else {
        Err("must be from 0.001 to 0.49; denser spheres form a crystal".to_owned())
    }
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let Backend::Cpu = args.backend;
    let mut points = Vec::new();
    for &eta in &args.eta {
        let measured = measure(&args, eta)?;
        print(&measured, eta, args.json)?;
        points.push([eta, measured.z]);
    }
    if let Some(path) = args.plot {
        plot::plot(&points).save(&path)?;
    }
    Ok(())
}

fn print(measured: &Measured, eta: f64, json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string(measured)?);
        return Ok(());
    }
    println!("packing fraction   {eta}");
    println!(
        "Z                  {:.4} ({:.4} by Kolafa's equation)",
        measured.z, measured.kolafa
    );
    println!("drift of energy    {:.1e}", measured.energy_drift);
    println!("drift of momentum  {:.1e}", measured.momentum_drift);
    println!("deepest overlap    {:.1e} radii", measured.deepest_overlap);
    println!("impacts            {}", measured.events);
    println!("impacts a second   {:.0}", measured.events_per_second);
    Ok(())
}

fn measure(args: &Args, eta: f64) -> Result<Measured, Error> {
    let Fluid { spheres, domain } = Fluid::new(args.n, eta, args.seed);
    let mut options = SimulationOptions::new()
        .with_domain(domain)
        .with_threads(args.threads);
    if let Some(h) = args.h {
        options = options.with_impacts_per_substep(h);
    }
    let mut simulation = Simulation::new(spheres, options)?;
    // A step is about a substep long.
    let duration = simulation.options().impacts_per_substep / impact_rate(eta);
    let count = f64::from(args.n);
    let mut before = 0;
    while 2.0 * (before as f64) < args.equilibrate * count {
        before += simulation.step(duration)?.impacts;
    }
    let (energy, momentum) = (simulation.kinetic_energy(), momentum(&simulation));
    let from = simulation.time();
    let mut overlaps = Overlaps::new(domain)?;
    let (mut events, mut virial, mut substeps, mut largest_island) = (0, 0.0, 0, 0);
    let mut clock = Duration::ZERO;
    while 2.0 * (events as f64) < args.impacts * count {
        let start = Instant::now();
        let report = simulation.step(duration)?;
        clock += start.elapsed();
        events += report.impacts;
        virial += report.virial;
        substeps += report.substeps;
        largest_island = largest_island.max(report.largest_island);
        if !args.no_check {
            overlaps.check(simulation.spheres())?;
        }
    }
    let total = simulation
        .spheres()
        .iter()
        .map(|sphere| sphere.momentum().length());
    Ok(Measured {
        eta,
        z: 1.0 + virial / (2.0 * energy * (simulation.time() - from)),
        kolafa: kolafa(eta),
        energy_drift: simulation.kinetic_energy() / energy - 1.0,
        momentum_drift: (self::momentum(&simulation) - momentum).length() / total.sum::<f64>(),
        deepest_overlap: overlaps.deepest,
        events,
        events_per_second: events as f64 / clock.as_secs_f64(),
        substeps,
        largest_island,
    })
}

fn momentum(simulation: &Simulation) -> DVec3 {
    simulation.spheres().iter().map(HardSphere::momentum).sum()
}
