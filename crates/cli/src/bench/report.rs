//! The report of `carom bench --gpu-report`: checks and times the GPU backend, and writes two files that a user
//! can send to the developers.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use carom::{Backend, Collision, Detector, Options, Statistics, Step};
use carom_scenes::Scene;
use serde::Serialize;

use super::kernel_times::{Gpu, KernelTime, Properties};
use super::{Args, floor, median, median_of_stage};
use crate::say;

/// Number of spheres in the worlds on which the GPU and the CPU are compared.
const CHECKED: usize = 20_000;
/// Benchmark scenes and numbers of spheres that are timed, small worlds first.
const TIMED: [(Scene, usize); 8] = [
    (Scene::Gas, 100_000),
    (Scene::Lattice, 137_842),
    (Scene::Gas, 1_000_000),
    (Scene::Polydisperse, 1_000_000),
    (Scene::Fast, 1_000_000),
    (Scene::Clustered, 1_000_000),
    (Scene::Thermal, 1_000_000),
    (Scene::Gas, 10_000_000),
];
/// Estimated time of a step on an NVIDIA H200, in microseconds: the lower and the upper bound of the model in
/// docs/performance.md.
const MODEL: [(Scene, usize, [f64; 2]); 6] = [
    (Scene::Gas, 1_000_000, [191.0, 258.0]),
    (Scene::Polydisperse, 1_000_000, [284.0, 356.0]),
    (Scene::Fast, 1_000_000, [607.0, 701.0]),
    (Scene::Clustered, 1_000_000, [1136.0, 1266.0]),
    (Scene::Thermal, 1_000_000, [449.0, 529.0]),
    (Scene::Gas, 10_000_000, [1423.0, 1992.0]),
];
/// Estimated time of each kernel on an NVIDIA H200 in the scene `gas` with a million spheres, in microseconds:
/// a lower and an upper bound, without the 3 µs that each dispatch takes to start.
const MODEL_OF_KERNELS: [(&str, [f64; 2]); 11] = [
    ("measure_spacing", [5.6, 8.2]),
    ("measure_ranks", [2.5, 4.8]),
    ("measure_curve", [7.0, 7.0]),
    ("measure_sizes", [35.1, 43.4]),
    ("plan", [5.2, 5.3]),
    ("bin", [14.2, 28.1]),
    ("scan_reduce", [3.3, 5.5]),
    ("scan_apply", [6.7, 12.9]),
    ("scatter", [22.5, 31.6]),
    ("pairs", [55.1, 77.3]),
    ("results", [0.4, 0.4]),
];
/// Time limit since the start. Worlds that are expected to end later are skipped.
const BUDGET: Duration = Duration::from_secs(420);

#[derive(Serialize)]
struct Report {
    version: &'static str,
    system: String,
    adapter: String,
    gpu: Properties,
    seed: u64,
    repeats: u32,
    /// Memory bandwidth in bytes per second, from the option `--bandwidth`.
    bandwidth: Option<f64>,
    checks: Vec<Check>,
    timings: Vec<Timing>,
}

#[derive(Serialize)]
struct Check {
    scene: &'static str,
    n: usize,
    pairs: Option<usize>,
    /// Message that says why the check failed, or `None` if both lists are identical.
    failure: Option<String>,
}

#[derive(Serialize)]
struct Timing {
    scene: &'static str,
    n: usize,
    measured: Option<Measured>,
    /// Message that says why the world was skipped or failed, or `None`.
    failure: Option<String>,
}

#[derive(Serialize)]
struct Measured {
    median_seconds: f64,
    min_seconds: f64,
    pairs: u64,
    candidates: u64,
    floor_seconds: Option<f64>,
    stages: Vec<(&'static str, f64)>,
    /// Lower and upper bound of the time of a step on an NVIDIA H200: see [`MODEL`].
    model: Option<[f64; 2]>,
    kernels: Vec<KernelTime>,
}

/// Writes the files `report.md` and `report.json` to the folder. Returns an error if a check or a
/// world failed. The files are complete in this case too.
pub(super) fn run(arguments: &Args, folder: &Path) -> anyhow::Result<()> {
    let start = Instant::now();
    // `Backend::Auto` never chooses a software adapter, and `Backend::Gpu` takes one if there is no GPU.
    let adapter = detector(arguments.backend())?.adapter().map(str::to_owned);
    let adapter = adapter.context(
        "--gpu-report needs a GPU, and no hardware GPU was found: install its driver, or add \
         `--backend gpu` to use a software adapter",
    )?;
    let gpu = Gpu::new(&adapter)?;
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut report = Report {
        version: env!("CARGO_PKG_VERSION"),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        adapter,
        gpu: gpu.properties.clone(),
        seed: arguments.seed,
        repeats: arguments.repeats,
        bandwidth: arguments.bandwidth,
        checks: Vec::new(),
        timings: Vec::new(),
    };
    for scene in Scene::ALL {
        report.checks.push(check(arguments, scene));
        report.write(folder)?;
    }
    // Time of a step divided by the number of spheres, in seconds, in the slowest world so far.
    let mut slowest = 0.0_f64;
    for (scene, n) in TIMED {
        let n = n.min(arguments.most());
        let world = Instant::now();
        let expected = Duration::try_from_secs_f64(slowest * n as f64).unwrap_or(Duration::MAX);
        let timing = if start.elapsed().saturating_add(expected) > BUDGET {
            Err(anyhow::anyhow!("skipped: the report would take too long"))
        } else {
            measure(arguments, &gpu, scene, n)
        };
        slowest = slowest.max(world.elapsed().as_secs_f64() / n.max(1) as f64);
        report.timings.push(Timing {
            scene: scene.name(),
            n,
            failure: timing.as_ref().err().map(|error| format!("{error:#}")),
            measured: timing.ok(),
        });
        report.write(folder)?;
    }
    say(&report.table());
    let failures = report.failures();
    ensure!(
        failures == 0,
        "{failures} checks or worlds failed or were skipped; see {}",
        folder.join("report.md").display()
    );
    Ok(())
}

fn detector(backend: Backend) -> Result<Detector, carom::Error> {
    Detector::new(Options::new().with_backend(backend))
}

/// Compares the lists of the GPU and the CPU bit for bit.
fn check(arguments: &Args, scene: Scene) -> Check {
    let n = CHECKED.min(arguments.most());
    let spheres = scene.generate(n, arguments.seed);
    let list = |backend| -> anyhow::Result<Vec<[u32; 4]>> {
        let found = detector(backend)?.detect(&Step::new(&spheres, 1.0))?;
        Ok(found.pairs.iter().map(bits).collect())
    };
    let compared = || -> anyhow::Result<usize> {
        let (gpu, cpu) = (list(Backend::Gpu)?, list(Backend::Cpu)?);
        let first = gpu.iter().zip(&cpu).position(|(a, b)| a != b);
        ensure!(
            gpu == cpu,
            "the lists differ from pair {} on: {} pairs on the GPU, {} on the CPU",
            first.unwrap_or(gpu.len().min(cpu.len())),
            gpu.len(),
            cpu.len()
        );
        Ok(gpu.len())
    };
    let compared = compared();
    Check {
        scene: scene.name(),
        n,
        failure: compared.as_ref().err().map(|error| format!("{error:#}")),
        pairs: compared.ok(),
    }
}

fn bits(pair: &Collision) -> [u32; 4] {
    [pair.a, pair.b, pair.toi.to_bits(), pair.depth.to_bits()]
}

fn measure(arguments: &Args, gpu: &Gpu, scene: Scene, n: usize) -> anyhow::Result<Measured> {
    let spheres = scene.generate(n, arguments.seed);
    let mut detector = detector(Backend::Gpu)?;
    let mut found = detector.detect(&Step::new(&spheres, 1.0))?;
    let mut seconds = Vec::new();
    let mut calls: Vec<Statistics> = Vec::new();
    for _ in 0..arguments.repeats {
        let start = Instant::now();
        detector.detect_into(&Step::new(&spheres, 1.0), &mut found)?;
        seconds.push(start.elapsed().as_secs_f64());
        calls.push(found.statistics.clone());
    }
    let facts = &found.statistics;
    let stages = facts.stages.iter().map(|&(name, _)| name);
    Ok(Measured {
        min_seconds: seconds.iter().copied().fold(f64::INFINITY, f64::min),
        median_seconds: median(seconds),
        pairs: facts.pairs,
        candidates: facts.candidates,
        floor_seconds: arguments
            .bandwidth
            .map(|bandwidth| floor::least_bytes(facts.spheres, facts.pairs) as f64 / bandwidth),
        stages: stages
            .map(|name| (name, median_of_stage(name, &calls)))
            .collect(),
        model: MODEL
            .into_iter()
            .find(|&(of, count, _)| (of, count) == (scene, n))
            .map(|(.., bounds)| bounds.map(|microseconds| microseconds * 1e-6)),
        kernels: gpu.times(&spheres, arguments.repeats)?,
    })
}

impl Report {
    fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let json = serde_json::to_string_pretty(self)?;
        for (name, text) in [("report.md", self.table()), ("report.json", json)] {
            let path = folder.join(name);
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    fn failures(&self) -> usize {
        let checks = self.checks.iter().filter(|check| check.failure.is_some());
        let timings = self
            .timings
            .iter()
            .filter(|timing| timing.failure.is_some());
        checks.count() + timings.count()
    }

    fn table(&self) -> String {
        let mut text = format!(
            "# carom {} on a GPU\n\nAdapter: {}. {} System: {}. Seed {}; medians of {} calls.\n\n\
             ## Lists of the GPU and the CPU\n\n| scene | spheres | pairs | result |\n|---|---:|---:|---|\n",
            self.version,
            self.adapter,
            self.gpu.lines(),
            self.system,
            self.seed,
            self.repeats
        );
        for check in &self.checks {
            let pairs = check
                .pairs
                .map_or("-".to_owned(), |pairs| pairs.to_string());
            let result = check.failure.as_deref().unwrap_or("identical");
            _ = writeln!(
                text,
                "| {} | {} | {pairs} | {result} |",
                check.scene, check.n
            );
        }
        text.push_str(
            "\n## Times in milliseconds\n\nThe time of a call includes transfers from and to the GPU. If \
             the GPU has no timestamps, only the stages on the CPU are listed.\n\n\
             | scene | spheres | call | least | floor | model (H200) | pairs | candidates | stages |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|---|\n",
        );
        for timing in &self.timings {
            _ = writeln!(
                text,
                "| {} | {} | {} |",
                timing.scene,
                timing.n,
                timing.cells()
            );
        }
        for timing in &self.timings {
            text.push_str(&timing.kernel_table());
        }
        text
    }
}

impl Timing {
    fn cells(&self) -> String {
        let Some(measured) = &self.measured else {
            let why = self.failure.as_deref().unwrap_or_default();
            return format!("- | - | - | - | - | - | {why}");
        };
        let stages: Vec<String> = measured
            .stages
            .iter()
            .map(|(name, seconds)| format!("{name} {:.3}", seconds * 1e3))
            .collect();
        format!(
            "{:.3} | {:.3} | {} | {} | {} | {} | {}",
            measured.median_seconds * 1e3,
            measured.min_seconds * 1e3,
            measured
                .floor_seconds
                .map_or("-".to_owned(), |floor| format!("{:.3}", floor * 1e3)),
            bounds(measured.model),
            measured.pairs,
            measured.candidates,
            stages.join(", ")
        )
    }

    /// Returns a table of the kernels, or nothing if their times are not known.
    fn kernel_table(&self) -> String {
        let kernels = self.measured.iter().flat_map(|measured| &measured.kernels);
        let mut text = String::new();
        for KernelTime {
            name,
            dispatches,
            workgroup_size,
            seconds,
        } in kernels
        {
            if text.is_empty() {
                _ = write!(
                    text,
                    "\n## Kernels of {} with {} spheres, in milliseconds\n\n\
                     | kernel | dispatches | workgroup | time | model (H200) |\n|---|---:|---:|---:|---:|\n",
                    self.scene, self.n
                );
            }
            let is_modelled = self.scene == Scene::Gas.name() && self.n == 1_000_000;
            let model = MODEL_OF_KERNELS
                .iter()
                .find(|(of, _)| is_modelled && of == name);
            let model = model.map(|&(_, bounds)| bounds.map(|microseconds| microseconds * 1e-6));
            let workgroup = workgroup_size.map_or("-".to_owned(), |size| size.to_string());
            _ = writeln!(
                text,
                "| {name} | {dispatches} | {workgroup} | {:.4} | {} |",
                seconds * 1e3,
                bounds(model)
            );
        }
        text
    }
}

/// Formats a lower and an upper bound, given in seconds, as text in milliseconds.
fn bounds(seconds: Option<[f64; 2]>) -> String {
    match seconds {
        Some([low, high]) => format!("{:.4} to {:.4}", low * 1e3, high * 1e3),
        None => "-".to_owned(),
    }
}
