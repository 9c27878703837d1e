//! The subcommand `carom bench`, which times the library on the benchmark scenes, or on a file.

mod args;
mod check;
mod float64;
mod floor;
#[cfg(feature = "native")]
mod kernel_times;
mod median;
#[cfg(feature = "native")]
mod report;
#[cfg(feature = "native")]
mod transfers;

use std::io::Write;
use std::time::Instant;

use anyhow::{Context, anyhow};
use carom::{Backend, Detector, Error, Options, Sphere, Statistics, Step};
use carom_formats::read::{self, Frames, Input};
use serde::Serialize;

pub(crate) use args::Args;
use args::Case;
use float64::{Float64, Float64Run};
use floor::{Counts, Moved};
use median::{Stage, median, median_of_stage};

use crate::progress::Progress;
use crate::say::say;

/// Result of timing one benchmark scene or file, printed as a JSON object on one line.
#[derive(Serialize)]
struct Run {
    #[serde(flatten)]
    world: World,
    backend: &'static str,
    adapter: Option<String>,
    threads: usize,
    repeats: u32,
    checked: Option<u64>,
    median_seconds: f64,
    min_seconds: f64,
    max_seconds: f64,
    spheres_per_second: f64,
    pairs: u64,
    candidates: u64,
    proxies: u64,
    levels: u32,
    slots: u64,
    memory: u64,
    grazing: u64,
    grazing_by_integers: u64,
    /// Number of bytes that any method must move in memory in the time step.
    floor_bytes: u64,
    /// Memory bandwidth in bytes per second, or `None` if it is neither given nor measured.
    bandwidth: Option<f64>,
    floor_seconds: Option<f64>,
    /// Median time of a call, divided by the time in which the memory can move the bytes that any method must
    /// move.
    over_floor: Option<f64>,
    /// Number of bytes that each stage moves according to a model of the CPU backend, or `None` on a GPU.
    moved: Option<Vec<Moved>>,
    stages: Vec<Stage>,
    /// The same spheres in float64, with the option `--float64`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    float64: Vec<Float64>,
}

/// The spheres that were timed: a benchmark scene with its parameters, or a file.
#[derive(Serialize)]
struct World {
    /// Name of the benchmark scene, or `None` if a file was timed.
    scene: Option<&'static str>,
    input: Option<String>,
    n: usize,
    dt: f32,
    at_rest: bool,
    seed: Option<u64>,
    density: Option<f64>,
    ratio: Option<f32>,
    bullets: Option<f32>,
}

#[cfg(feature = "native")]
use report::run as report;

#[cfg(not(feature = "native"))]
fn report(_: &Args, _: &std::path::Path) -> anyhow::Result<()> {
    anyhow::bail!("--gpu-report needs the GPU backend: build carom-cli with the feature `native`")
}

pub(crate) fn run(arguments: Args) -> anyhow::Result<()> {
    if let Some(folder) = &arguments.gpu_report {
        return report(&arguments, folder);
    }
    // Without a pool of its own, rayon panics if no threads can be started.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads)
        .build()
        .map_err(|error| {
            anyhow!("cannot start the threads of the CPU backend: {error}; let the system run fewer programs, or choose fewer threads with --threads")
        })?;
    pool.install(|| measure(arguments))
}

/// Runs the benchmarks in the current rayon pool.
fn measure(arguments: Args) -> anyhow::Result<()> {
    let cases = arguments.cases().map_err(|what| anyhow!(what))?;
    let input = arguments.input().map_err(anyhow::Error::msg)?;
    let mut bench = Bench {
        threads: rayon::current_num_threads(),
        bandwidth: arguments.bandwidth,
        arguments,
    };
    print_heading();
    if let Some(input) = input {
        return bench.time_file(&input);
    }
    for case in cases {
        bench
            .time_case(&case)
            .with_context(|| format!("{} of {} spheres", case.scene, case.n))?;
    }
    Ok(())
}

struct Bench {
    arguments: Args,
    threads: usize,
    /// Memory bandwidth in bytes per second, from the option `--bandwidth` or measured by the first run on
    /// the CPU.
    bandwidth: Option<f64>,
}

impl Bench {
    fn time_file(&mut self, input: &Input) -> anyhow::Result<()> {
        let progress = Progress::new();
        let options = self.arguments.read_options();
        let world = read::open(input, Frames::LAST, &options, &progress)?
            .next()
            .transpose()?;
        drop(progress);
        let mut file = world.with_context(|| format!("{} has no frame", input.name()))?;
        for note in &file.notes {
            say(&format!("note: {note}"));
        }
        let world = World {
            scene: None,
            input: Some(file.source.clone()),
            n: file.spheres.len(),
            dt: self.arguments.dt(),
            at_rest: self.arguments.at_rest,
            seed: None,
            density: None,
            ratio: None,
            bullets: None,
        };
        let spheres = file.in_float32()?;
        file.spheres = Vec::new();
        let timed = self.time(spheres, world);
        timed.map_err(|error| match error.downcast::<Error>() {
            Ok(error) => file.explain(error).into(),
            Err(error) => error,
        })
    }

    fn time_case(&mut self, case: &Case) -> anyhow::Result<()> {
        let &Case {
            scene,
            n,
            parameters,
        } = case;
        let seed = self.arguments.seed;
        let world = World {
            scene: Some(scene.name()),
            input: None,
            n,
            dt: self.arguments.dt(),
            at_rest: self.arguments.at_rest,
            seed: Some(seed),
            density: Some(parameters.density),
            ratio: Some(parameters.ratio),
            bullets: Some(parameters.bullets),
        };
        self.time(scene.generate_with(&parameters, n, seed), world)
    }

    fn time(&mut self, mut spheres: Vec<Sphere>, world: World) -> anyhow::Result<()> {
        let (dt, repeats) = (self.arguments.dt(), self.arguments.repeats);
        if world.at_rest {
            spheres = carom_scenes::at_rest(spheres);
        }
        // Each scene or file gets a new `Detector`, because a `Detector` keeps its buffers: the reported
        // memory must not include buffers of earlier scenes.
        let mut detector = Detector::new(Options::new().with_backend(self.arguments.backend()))?;
        let warm_up = detector.detect(&Step::new(&spheres, dt))?;
        let checked = if self.arguments.check {
            let tried = check::check(&spheres, dt, &warm_up.pairs)?;
            say(&format!(
                "checked: {tried} pairs tested in exact arithmetic, the list is correct"
            ));
            Some(tried)
        } else {
            None
        };
        let facts = warm_up.statistics.clone();
        let mut seconds = Vec::new();
        let mut found = warm_up;
        let mut calls: Vec<Statistics> = Vec::new();
        let mut float64 = match self.arguments.float64 {
            true => Some(Float64Run::new(&spheres, dt, self.arguments.backend())?),
            false => None,
        };
        for _ in 0..repeats {
            let start = Instant::now();
            detector.detect_into(&Step::new(&spheres, dt), &mut found)?;
            seconds.push(start.elapsed().as_secs_f64());
            calls.push(found.statistics.clone());
            if let Some(float64) = &mut float64 {
                float64.time()?;
            }
        }
        let float64 = float64.map_or(Vec::new(), |run| run.results(&seconds));
        let min_seconds = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let max_seconds = seconds.iter().copied().fold(0.0, f64::max);
        let median_seconds = median(seconds);
        let stages = facts.stages.iter().map(|&(name, _)| Stage {
            name,
            median_seconds: median_of_stage(name, &calls),
        });
        // With `Backend::Auto`, the library may use the CPU for a single step although there is a GPU. The
        // statistics of the step say which backend ran.
        let on_cpu = facts.backend == Backend::Cpu;
        if on_cpu && self.bandwidth.is_none() {
            self.bandwidth = Some(floor::bandwidth()?);
        }
        // A measured memory bandwidth is for the memory of the host, so it applies only to steps on the CPU.
        let bandwidth = self
            .bandwidth
            .filter(|_| on_cpu || self.arguments.bandwidth.is_some());
        let floor_bytes = floor::least_bytes(facts.spheres, facts.pairs);
        let floor_seconds = bandwidth.map(|bandwidth| floor_bytes as f64 / bandwidth);
        let counts = Counts {
            spheres: facts.spheres,
            proxies: facts.proxies,
            slots: facts.slots,
            candidates: facts.candidates,
            pairs: facts.pairs,
        };
        let run = Run {
            backend: match facts.backend {
                Backend::Gpu => "gpu",
                Backend::Cpu | Backend::Auto => "cpu",
            },
            threads: self.threads,
            repeats,
            checked,
            median_seconds,
            min_seconds,
            max_seconds,
            spheres_per_second: over(world.n as f64, median_seconds).unwrap_or(0.0),
            pairs: facts.pairs,
            candidates: facts.candidates,
            proxies: facts.proxies,
            levels: facts.levels,
            slots: facts.slots,
            memory: facts.memory,
            grazing: facts.grazing,
            grazing_by_integers: facts.grazing_by_integers,
            floor_bytes,
            bandwidth,
            floor_seconds,
            over_floor: floor_seconds.and_then(|floor| over(median_seconds, floor)),
            moved: on_cpu.then(|| floor::moved(counts)),
            stages: stages.collect(),
            float64,
            adapter: facts.adapter,
            world,
        };
        print_row(&run);
        writeln!(std::io::stdout(), "{}", serde_json::to_string(&run)?)?;
        Ok(())
    }
}

/// Returns the quotient `a / b`, or `None` if the quotient is not finite.
fn over(a: f64, b: f64) -> Option<f64> {
    Some(a / b).filter(|quotient| quotient.is_finite())
}

fn print_heading() {
    say(&format!(
        "{:<28} {:>9} {:>4} {:>10} {:>10} {:>10} {:>8} {:>6} {:>7} {:>7} {:>7} {:>8} {:>8} {:>8}",
        "world",
        "n",
        "on",
        "median ms",
        "min ms",
        "max ms",
        "ns/n",
        "levels",
        "prox/n",
        "cand/n",
        "pairs/n",
        "grazing",
        "MiB",
        "x floor"
    ));
}

fn print_row(run: &Run) {
    let each = run.world.n.max(1) as f64;
    say(&format!(
        "{:<28} {:>9} {:>4} {:>10.2} {:>10.2} {:>10.2} {:>8.1} {:>6} {:>7.2} {:>7.1} {:>7.2} {:>8} \
         {:>8.1} {:>8}",
        run.world.name(),
        run.world.n,
        run.backend,
        run.median_seconds * 1e3,
        run.min_seconds * 1e3,
        run.max_seconds * 1e3,
        run.median_seconds / each * 1e9,
        run.levels,
        run.proxies as f64 / each,
        run.candidates as f64 / each,
        run.pairs as f64 / each,
        run.grazing,
        run.memory as f64 / f64::from(1 << 20),
        run.over_floor
            .map_or("-".to_owned(), |ratio| format!("{ratio:.1}")),
    ));
    for float64 in &run.float64 {
        float64.print_row(run.world.n, run.backend);
    }
}

impl World {
    /// Returns the name of the input file. For a benchmark scene, returns the name of the scene and the
    /// parameters that command-line options have changed.
    fn name(&self) -> String {
        let (Some(name), Some(density), Some(ratio), Some(bullets)) =
            (self.scene, self.density, self.ratio, self.bullets)
        else {
            return self.input.clone().unwrap_or_default();
        };
        let mut words = vec![name.to_owned()];
        if let Some(own) = carom_scenes::Scene::from_name(name).map(carom_scenes::Scene::parameters)
        {
            let told = [
                (density != own.density, format!("density {density}")),
                (ratio != own.ratio, format!("ratio {ratio}")),
                (bullets != own.bullets, format!("bullets {bullets}")),
                (self.at_rest, "at rest".to_owned()),
            ];
            words.extend(
                told.into_iter()
                    .filter_map(|(other, word)| other.then_some(word)),
            );
        }
        words.join(" ")
    }
}
