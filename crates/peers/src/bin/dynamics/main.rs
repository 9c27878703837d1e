//! Times carom's hard-sphere dynamics beside a serial event-driven simulation and the physics engine rapier3d.
//!
//! ```sh
//! cargo run --release -p carom-peers --bin dynamics -- --n 1000000 --eta 0.3
//! ```

mod by_rapier;
#[path = "../../../../../examples/hard_spheres/fluid.rs"]
mod fluid;
mod heap;
mod queue;
mod runs;
#[cfg(test)]
mod tests;

use std::time::Instant;

use anyhow::ensure;
use carom::{Simulation, SimulationOptions};
use clap::Parser;
use cpu_time::ProcessTime;

use crate::by_rapier::ByRapier;
use crate::fluid::{Fluid, impact_rate};
use crate::runs::{ByCarom, ByHeap, Run};

/// Times programs that move equal hard spheres in a periodic cube, from the same equilibrated fluid.
///
/// The programs are carom on one thread and more, and `heap`, a serial event-driven simulation with one heap of
/// events in the order of time. They take turns, and each moves its spheres by the same time in each turn. Before
/// the first, each runs one turn that is not timed. Their energies must stay the same, and at the end no two
/// spheres may overlap.
///
/// The physics engine rapier3d does not find the time of each impact. It moves its spheres in steps
/// of a quarter of the mean time between two impacts of a sphere. The rate of rapier3d is the
/// number of impacts that carom finds in the same simulated time, divided by the computing time of
/// rapier3d. rapier3d does not conserve energy, so the change of its energy is printed.
#[derive(Parser)]
struct Arguments {
    /// Number of spheres.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(256..=10_000_000))]
    n: u32,
    /// Packing fraction: the share of the volume that the spheres fill.
    #[arg(long, default_value_t = 0.3)]
    eta: f64,
    /// Mean number of impacts of each sphere in all timed runs of a program together.
    #[arg(long, default_value_t = 5.0)]
    events_per_sphere: f64,
    /// Mean number of impacts of each sphere before the timing starts.
    #[arg(long, default_value_t = 8.0)]
    equilibrate: f64,
    /// Number of timed runs of each program. The programs take turns.
    #[arg(long, default_value_t = 5)]
    turns: u32,
    /// carom runs once with each of these numbers of threads.
    #[arg(long, default_value = "1,2", value_delimiter = ',')]
    threads: Vec<usize>,
    /// Run rapier3d, too.
    #[arg(long)]
    rapier: bool,
}

/// The measurements of one program: a number for each turn in which it was timed. Times are in seconds.
#[derive(Default)]
struct Times {
    elapsed: Vec<f64>,
    processor: Vec<f64>,
    impacts: Vec<f64>,
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn rates(impacts: &[f64], seconds: &[f64]) -> (f64, f64) {
    let rates = sorted(impacts.iter().zip(seconds).map(|(n, s)| n / s).collect());
    (rates[rates.len() - 1], rates[rates.len() / 2])
}

/// Returns the deepest overlap of spheres of diameter 1 in a periodic cube.
fn deepest_overlap(places: &[[f64; 3]], edge: f64) -> f64 {
    // The cube is divided into columns along x. Spheres are compared if they are in the same column
    // or in neighbouring ones, and if their centres are at most 1 apart along x.
    let columns = edge.floor();
    let column = |place: &[f64; 3]| {
        [1, 2].map(|axis| {
            (place[axis].rem_euclid(edge) / edge * columns)
                .floor()
                .min(columns - 1.0)
        })
    };
    let mut order: Vec<_> = places
        .iter()
        .map(|place| {
            let [y, z] = column(place);
            (y * columns + z, place[0].rem_euclid(edge), place)
        })
        .collect();
    order.sort_by(|one, other| {
        let by_column = one.0.total_cmp(&other.0);
        by_column.then(one.1.total_cmp(&other.1))
    });
    let mut deepest = 0.0_f64;
    for place in places {
        let [y, z] = column(place);
        let x = place[0].rem_euclid(edge);
        for (dy, dz) in (-1..=1).flat_map(|dy| (-1..=1).map(move |dz| (dy, dz))) {
            let wrapped = |k: f64, d: i32| (k + f64::from(d)).rem_euclid(columns);
            let name = wrapped(y, dy) * columns + wrapped(z, dz);
            for shift in [-edge, 0.0, edge] {
                let low = x + shift - 1.0;
                let from = order.partition_point(|entry| (entry.0, entry.1) < (name, low));
                for &(column, other_x, other) in &order[from..] {
                    if column != name || other_x > x + shift + 1.0 {
                        break;
                    }
                    if std::ptr::eq(place, other) {
                        continue;
                    }
                    let squares = [0, 1, 2].map(|axis| {
                        let d = place[axis] - other[axis];
                        (d - (d / edge).round() * edge).powi(2)
                    });
                    deepest = deepest.max(1.0 - squares.iter().sum::<f64>().sqrt());
                }
            }
        }
    }
    deepest
}

fn main() -> anyhow::Result<()> {
    let args = Arguments::parse();
    ensure!(
        (0.01..=0.49).contains(&args.eta),
        "the packing fraction must be from 0.01 to 0.49"
    );
    ensure!(
        args.turns > 0 && args.events_per_sphere > 0.0 && args.equilibrate >= 0.0,
        "the numbers of turns and of impacts must be positive"
    );
    let Fluid { spheres, domain } = Fluid::new(args.n, args.eta, 1);
    let edge = domain.edges()[0][0];
    let rate = impact_rate(args.eta);
    let options = SimulationOptions::new().with_domain(domain);
    let mut simulation = Simulation::new(spheres, options)?;
    simulation.step(args.equilibrate / rate)?;
    let spheres = simulation.spheres().to_vec();
    drop(simulation);
    let energy: f64 = spheres.iter().map(|sphere| sphere.kinetic_energy()).sum();

    let mut runs: Vec<Box<dyn Run>> = Vec::new();
    for &threads in &args.threads {
        runs.push(Box::new(ByCarom::new(&spheres, domain, threads)?));
    }
    runs.push(Box::new(ByHeap::new(&spheres, edge)?));
    if args.rapier {
        runs.push(Box::new(ByRapier::new(&spheres, edge, 0.25 / rate)));
    }
    let duration = args.events_per_sphere / f64::from(args.turns) / rate;
    let mut times: Vec<Times> = runs.iter().map(|_| Times::default()).collect();
    for turn in 0..=args.turns {
        let mut counted = None;
        for (run, times) in runs.iter_mut().zip(&mut times) {
            let (start, cpu_start) = (Instant::now(), ProcessTime::try_now()?);
            let impacts = run.advance(duration)?;
            let (elapsed, processor) = (start.elapsed(), cpu_start.try_elapsed()?);
            counted = counted.or(impacts);
            if turn > 0 {
                times.elapsed.push(elapsed.as_secs_f64());
                times.processor.push(processor.as_secs_f64());
                let impacts = impacts.or(counted).unwrap_or(0);
                times.impacts.push(impacts as f64);
            }
        }
    }

    println!(
        "{} spheres, packing fraction {}, {} turns of {:.2} impacts of each sphere",
        args.n,
        args.eta,
        args.turns,
        args.events_per_sphere / f64::from(args.turns)
    );
    println!(
        "thousands of impacts a second, the ratio to the first row, both by processor time, too:"
    );
    println!("program             best median  ratio | best median  ratio | change of energy");
    let mut first = None;
    for (run, times) in runs.iter().zip(&times) {
        let elapsed = rates(&times.impacts, &times.elapsed);
        let processor = rates(&times.impacts, &times.processor);
        let &mut (by_elapsed, by_processor) = first.get_or_insert((elapsed.1, processor.1));
        let change = run.energy() / energy - 1.0;
        println!(
            "{:18} {:5.0} {:6.0} {:6.2} | {:4.0} {:6.0} {:6.2} | {change:.0e}",
            run.name(),
            elapsed.0 / 1e3,
            elapsed.1 / 1e3,
            elapsed.1 / by_elapsed,
            processor.0 / 1e3,
            processor.1 / 1e3,
            processor.1 / by_processor,
        );
    }
    for (run, times) in runs.iter().zip(&times) {
        let seconds: f64 = times.elapsed.iter().sum();
        let time = duration * f64::from(args.turns);
        println!(
            "{}: {}; {:.1} s for a unit of simulated time",
            run.name(),
            run.remark(),
            seconds / time
        );
        if let Some(places) = run.places() {
            let deepest = deepest_overlap(&places, edge);
            println!("  deepest overlap {deepest:.0e} diameters");
            ensure!(deepest < 1e-9, "two spheres overlap");
            let change = run.energy() / energy - 1.0;
            ensure!(change.abs() < 1e-9, "the energy has changed");
        }
    }
    Ok(())
}
