//! Measures the equation of state of hard spheres: the pressure of an event-driven simulation.
//!
//! This command simulates 16 384 spheres that fill 30 % of the volume:
//! `cargo run --release --example hard_spheres -- --eta 0.3 --n 16384 --impacts 100 --backend cpu --json`
//!
//! The spheres have diameter 1 and mass 1. They start from a face-centred cubic crystal with random
//! velocities, melt, and then move until each has had the given number of impacts. The result is the
//! compressibility factor Z = P·V / (N·k·T), beside the value of Kolafa's equation. With `--backend gpu`, a
//! GPU moves the spheres, in float32. The next command plots Z at several packing fractions:
//!
//! `cargo run --release --example hard_spheres -- --eta 0.1,0.2,0.3,0.4,0.45 --plot hard_spheres.svg`

#[path = "../drawing/mod.rs"]
mod drawing;
mod engine;
mod fluid;
mod gpu;
mod overlap;
mod plot;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use carom::HardSphere;
use clap::{Parser, ValueEnum};
use glam::DVec3;
use rayon::ThreadPoolBuilder;
use serde::Serialize;

use crate::engine::{Engine, Totals};
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
    #[arg(long, default_value_t = 100.0, value_parser = |text: &str| number(text, 0.01..=1e9, ""))]
    impacts: f64,
    /// Number of impacts of each sphere before the measured part. The crystal in which the spheres start
    /// melts slowly at packing fractions above 0.42, where about 300 impacts are needed.
    #[arg(long, default_value_t = 30.0, value_parser = |text: &str| number(text, 0.0..=1e9, ""))]
    equilibrate: f64,
    /// Seed of the velocities.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where the simulation runs: on the CPU or on a GPU.
    #[arg(long, value_enum, default_value = "cpu")]
    backend: Backend,
    /// Number of threads on the CPU, or 0 for all.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Mean number of impacts of each sphere in a substep.
    #[arg(long)]
    h: Option<f64>,
    /// Do not search for overlapping spheres after each step.
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
    Gpu,
}

#[derive(Serialize)]
struct Measured {
    eta: f64,
    z: f64,
    kolafa: f64,
    /// Change of the total energy during the measured part of the run, relative to the total energy.
    energy_drift: f64,
    /// Change of the total momentum during the measured part of the run, relative to the sum of the
    /// magnitudes of the spheres' momenta.
    momentum_drift: f64,
    /// Deepest overlap after any step, in radii.
    deepest_overlap: f64,
    events: u64,
    events_per_second: f64,
    substeps: u64,
    /// Number of spheres in the largest island: a group of spheres whose impacts had to be processed one
    /// after the other. 0 on a GPU.
    largest_island: usize,
}

/// Parses a number in a range. `reason` follows the range in the error text.
fn number(text: &str, allowed: RangeInclusive<f64>, reason: &str) -> Result<f64, String> {
    let number = text.parse().map_err(|_| "not a number".to_owned())?;
    if allowed.contains(&number) {
        return Ok(number);
    }
    let [least, most] = [allowed.start(), allowed.end()];
    Err(format!("must be from {least} to {most}{reason}"))
}

fn packing(text: &str) -> Result<f64, String> {
    number(text, 0.001..=0.49, "; denser spheres form a crystal")
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let pool = ThreadPoolBuilder::new().num_threads(args.threads).build()?;
    let mut points = Vec::new();
    for &eta in &args.eta {
        let measured = pool.install(|| measure(&args, eta))?;
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

fn measure(args: &Args, eta: f64) -> anyhow::Result<Measured> {
    let Fluid { spheres, domain } = Fluid::new(args.n, eta, args.seed);
    let mut engine = match args.backend {
        Backend::Cpu => Engine::on_cpu(spheres, domain, args.h)?,
        Backend::Gpu => Engine::on_gpu(&spheres, domain, args.h)?,
    };
    // Each call of `engine.step` simulates this duration. It is chosen so that about as many impacts occur as
    // in one substep on the CPU, or in one recording (of several substeps) on a GPU.
    let duration = engine.impacts_per_substep() / impact_rate(eta);
    let count = f64::from(args.n);
    let mut from = Totals::default();
    while 2.0 * (from.impacts as f64) < args.equilibrate * count {
        from = engine.step(duration)?;
    }
    let spheres = engine.spheres()?;
    let (energy, momentum) = (self::energy(&spheres), self::momentum(&spheres));
    // The GPU wraps centres into the periodic cell in float32. So the check allows a larger overlap of spheres
    // than with the CPU, which computes in float64.
    let units = match args.backend {
        Backend::Cpu => f64::EPSILON,
        Backend::Gpu => f32::EPSILON.into(),
    };
    let mut overlaps = Overlaps::new(domain, units)?;
    let mut to = from;
    let mut clock = Duration::ZERO;
    while 2.0 * ((to.impacts - from.impacts) as f64) < args.impacts * count {
        let start = Instant::now();
        to = engine.step(duration)?;
        clock += start.elapsed();
        if !args.no_check {
            overlaps.check(&engine.spheres()?)?;
        }
    }
    let spheres = engine.spheres()?;
    let total = spheres
        .iter()
        .map(|sphere| DVec3::from(sphere.momentum()).length());
    let events = to.impacts - from.impacts;
    Ok(Measured {
        eta,
        z: 1.0 + (to.virial - from.virial) / (2.0 * energy * (to.time - from.time)),
        kolafa: kolafa(eta),
        energy_drift: self::energy(&spheres) / energy - 1.0,
        momentum_drift: (self::momentum(&spheres) - momentum).length() / total.sum::<f64>(),
        deepest_overlap: overlaps.deepest,
        events,
        events_per_second: events as f64 / clock.as_secs_f64(),
        substeps: to.substeps - from.substeps,
        largest_island: to.largest_island,
    })
}

fn energy(spheres: &[HardSphere]) -> f64 {
    spheres.iter().map(HardSphere::kinetic_energy).sum()
}

fn momentum(spheres: &[HardSphere]) -> DVec3 {
    let momenta = spheres.iter().map(HardSphere::momentum);
    momenta.map(DVec3::from).sum()
}
