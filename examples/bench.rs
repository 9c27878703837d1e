//! Times the library on the benchmark scenes.
//!
//! ```sh
//! cargo run --release --example bench -- --scene gas,fast --n 100000,1000000 --backend cpu
//! ```

mod scenes;

use std::io::Write;
use std::time::Instant;

use anyhow::Context;
use carom::{Backend, Detector, Options, Sphere, Statistics};
use clap::{Parser, ValueEnum};
use scenes::Scene;
use serde::Serialize;

/// Times carom on the scenes of its benchmark.
///
/// A table for people goes to standard error, one JSON object a run to standard output. A run is
/// one call to warm up, which also grows buffers, and then the timed calls. Compare times taken on
/// one machine only; those of a software adapter (llvmpipe, lavapipe, WARP) say nothing about any
/// GPU.
#[derive(Parser)]
struct Arguments {
    /// Scenes by name, or `all`: gas, dense, polydisperse, fast, clustered, lattice, touching,
    /// thermal.
    #[arg(long, default_value = "all", value_delimiter = ',', value_parser = scenes_of)]
    scene: Vec<Scenes>,
    /// Numbers of spheres.
    #[arg(long, default_value = "100000", value_delimiter = ',')]
    n: Vec<usize>,
    /// Where to do the work.
    #[arg(long, default_value = "auto")]
    backend: Where,
    /// Threads of the CPU backend; 0 takes one for each core.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Timed calls of each scene and size.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Take away all velocities.
    #[arg(long)]
    at_rest: bool,
    /// Seed of the scenes' random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What one `--scene` name stands for.
type Scenes = Vec<Scene>;

fn scenes_of(name: &str) -> Result<Scenes, String> {
    match name {
        "all" => Ok(Scene::ALL.to_vec()),
        name => name.parse().map(|scene| vec![scene]),
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Where {
    /// A hardware GPU where there is one, else the CPU.
    Auto,
    /// A GPU, or a software adapter.
    Gpu,
    /// The CPU.
    Cpu,
}

/// One line of output: a scene of one size.
#[derive(Serialize)]
struct Run {
    scene: &'static str,
    at_rest: bool,
    n: usize,
    seed: u64,
    backend: &'static str,
    adapter: Option<String>,
    threads: usize,
    repeats: u32,
    median_seconds: f64,
    min_seconds: f64,
    max_seconds: f64,
    spheres_per_second: f64,
    pairs: usize,
    candidates: u64,
    proxies: u64,
    levels: u32,
    grazing: u64,
    grazing_by_integers: u64,
    /// In the order in which they ran.
    stages: Vec<Stage>,
}

/// A stage, and how long it took.
#[derive(Serialize)]
struct Stage {
    name: &'static str,
    median_seconds: f64,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let backend = match arguments.backend {
        Where::Auto => Backend::Auto,
        Where::Gpu => Backend::Gpu,
        Where::Cpu => Backend::Cpu,
    };
    let threads = arguments.threads;
    let mut detector = Detector::new(Options {
        backend,
        threads,
        ..Options::default()
    })?;
    eprintln!(
        "{:<13} {:>9} {:>4} {:>10} {:>10} {:>10} {:>7} {:>10} {:>13} {:>10} {:>8}",
        "scene",
        "n",
        "on",
        "median ms",
        "min ms",
        "max ms",
        "levels",
        "proxies/n",
        "candidates/n",
        "pairs/n",
        "grazing"
    );
    for &scene in arguments.scene.iter().flatten() {
        for &n in &arguments.n {
            let run = time(&mut detector, scene, n, &arguments)
                .with_context(|| format!("{scene} of {n} spheres"))?;
            print_row(&run);
            writeln!(std::io::stdout(), "{}", serde_json::to_string(&run)?)?;
        }
    }
    Ok(())
}

/// Times one scene of one size.
fn time(
    detector: &mut Detector,
    scene: Scene,
    n: usize,
    arguments: &Arguments,
) -> anyhow::Result<Run> {
    let mut spheres: Vec<Sphere> = scene.generate(n, arguments.seed);
    if arguments.at_rest {
        spheres = scenes::at_rest(spheres);
    }
    let warm_up = detector.detect(&spheres, 1.0)?;
    let mut seconds = Vec::new();
    let mut calls: Vec<Statistics> = Vec::new();
    for _ in 0..arguments.repeats {
        let start = Instant::now();
        let collisions = detector.detect(&spheres, 1.0)?;
        seconds.push(start.elapsed().as_secs_f64());
        calls.push(collisions.statistics);
    }
    let min_seconds = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let max_seconds = seconds.iter().copied().fold(0.0, f64::max);
    let median_seconds = median(seconds);
    let facts = warm_up.statistics;
    let stages = facts.stages.iter().map(|&(name, _)| Stage {
        name,
        median_seconds: median_of_stage(name, &calls),
    });
    Ok(Run {
        scene: scene.name(),
        at_rest: arguments.at_rest,
        n,
        seed: arguments.seed,
        // Asked of the call, not of the detector: `Auto` may fall back for one world.
        backend: match facts.backend {
            Backend::Gpu => "gpu",
            Backend::Cpu => "cpu",
            Backend::Auto => "auto",
        },
        threads: arguments.threads,
        repeats: arguments.repeats,
        median_seconds,
        min_seconds,
        max_seconds,
        spheres_per_second: if median_seconds > 0.0 {
            n as f64 / median_seconds
        } else {
            0.0
        },
        pairs: warm_up.pairs.len(),
        candidates: facts.candidates,
        proxies: facts.proxies,
        levels: facts.levels,
        grazing: facts.grazing,
        grazing_by_integers: facts.grazing_by_integers,
        stages: stages.collect(),
        adapter: facts.adapter,
    })
}

fn print_row(run: &Run) {
    let each = run.n as f64;
    eprintln!(
        "{:<13} {:>9} {:>4} {:>10.2} {:>10.2} {:>10.2} {:>7} {:>10.2} {:>13.1} {:>10.2} {:>8}",
        run.scene,
        run.n,
        run.backend,
        run.median_seconds * 1e3,
        run.min_seconds * 1e3,
        run.max_seconds * 1e3,
        run.levels,
        run.proxies as f64 / each,
        run.candidates as f64 / each,
        run.pairs as f64 / each,
        run.grazing
    );
}

/// The median over the calls of what a stage took, in seconds. A stage that ran more than once in
/// a call counts in sum.
fn median_of_stage(name: &str, calls: &[Statistics]) -> f64 {
    let of_call = |call: &Statistics| {
        let runs = call.stages.iter().filter(|(stage, _)| *stage == name);
        runs.map(|(_, time)| time.as_secs_f64()).sum()
    };
    median(calls.iter().map(of_call).collect())
}

/// The value in the middle, or the mean of the two there; 0 of none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let of_index = |index: usize| values.get(index).copied().unwrap_or(0.0);
    if values.len() % 2 == 1 {
        of_index(middle)
    } else {
        (of_index(middle.saturating_sub(1)) + of_index(middle)) / 2.0
    }
}
