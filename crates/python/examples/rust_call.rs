//! Does in Rust what the tests and `bench.py` do in Python, with the same arrays: a NumPy file of float32 or float64, N × 7.
//!
//! - `rust_call detect FILE.npy DT THREADS REPEATS` prints the median seconds of `Detector::detect` with separate arrays.
//! - `rust_call simulate FILE.npy EDGE STEPS DURATION OUT` simulates the spheres in a periodic cube and writes their centres and
//!   velocities.

use std::error::Error;
use std::fs;
use std::time::Instant;

use carom::{Backend, Detector, Domain, Options, Simulation, SimulationOptions, Spheres, Step};
use carom_formats::read::{self, Frames, Input, ReadOptions, World};

fn load(path: &str) -> Result<World, Box<dyn Error>> {
    let input = Input::new(path, None);
    let mut worlds = read::open(&input, Frames::LAST, &ReadOptions::default(), &())?;
    Ok(worlds.next().ok_or("no world")??)
}

/// Returns the median time of a step of separate arrays, each in the memory of its own list.
fn detect(world: &World, dt: f64, repeats: usize) -> Result<f64, Box<dyn Error>> {
    let mut detector = Detector::new(Options::new().with_backend(Backend::Cpu))?;
    let mut times = Vec::new();
    if world.float32 {
        let spheres = world.in_float32();
        let center: Vec<_> = spheres.iter().map(|sphere| sphere.center).collect();
        let radius: Vec<_> = spheres.iter().map(|sphere| sphere.radius).collect();
        let velocity: Vec<_> = spheres.iter().map(|sphere| sphere.velocity).collect();
        for _ in 0..=repeats {
            let began = Instant::now();
            let spheres = Spheres::new(&center, &radius).with_velocity(&velocity);
            #[expect(clippy::cast_possible_truncation, reason = "as Python does it")]
            let found = detector.detect(&Step::new(spheres, dt as f32))?;
            times.push(began.elapsed().as_secs_f64());
            drop(found);
        }
    } else {
        let center: Vec<_> = world.spheres.iter().map(|sphere| sphere.center).collect();
        let radius: Vec<_> = world.spheres.iter().map(|sphere| sphere.radius).collect();
        let velocity: Vec<_> = world.spheres.iter().map(|sphere| sphere.velocity).collect();
        for _ in 0..=repeats {
            let began = Instant::now();
            let spheres = Spheres::new(&center, &radius).with_velocity(&velocity);
            let found = detector.detect(&Step::new(spheres, dt))?;
            times.push(began.elapsed().as_secs_f64());
            drop(found);
        }
    }
    // The first step warms up.
    let mut times = times.split_off(1);
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn simulate(
    world: World,
    edge: f32,
    steps: usize,
    duration: f64,
    out: &str,
) -> Result<(), Box<dyn Error>> {
    let domain = Domain::rectangular([0.0; 3], [edge; 3]);
    let options = SimulationOptions::new().with_domain(domain);
    let mut simulation = Simulation::new(world.spheres, options)?;
    for _ in 0..steps {
        simulation.step(duration)?;
    }
    let mut bytes = Vec::new();
    for sphere in simulation.spheres() {
        for x in sphere.center.into_iter().chain(sphere.velocity) {
            bytes.extend(x.to_ne_bytes());
        }
    }
    Ok(fs::write(out, bytes)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["detect", file, dt, threads, repeats] => {
            let (world, dt, repeats) = (load(file)?, dt.parse()?, repeats.parse()?);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?);
            let seconds = pool
                .build()?
                .install(|| detect(&world, dt, repeats).map_err(|error| error.to_string()))?;
            println!("{seconds}");
            Ok(())
        }
        ["simulate", file, edge, steps, duration, out] => simulate(
            load(file)?,
            edge.parse()?,
            steps.parse()?,
            duration.parse()?,
            out,
        ),
        _ => Err("the arguments are in the comment of this program".into()),
    }
}
