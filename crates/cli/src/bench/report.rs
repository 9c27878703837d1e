//! The report of `carom bench --gpu-report`: checks and times the GPU backend, and writes two files that a user
//! can send to the developers.

use std::fmt::Write;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, ensure};
use carom::{Backend, Collision, Detector, Options, Sphere, Statistics, Step};
use carom_formats::write::OutputFile;
use carom_scenes::Scene;
use serde::Serialize;

use super::kernel_times::{Gpu, KernelTime, Limit, Properties};
use super::median::{median, median_of_stage};
use super::transfers::Transfers;
use super::{Args, floor};
use crate::say::say;

/// Number of spheres in the worlds on which the GPU and the CPU are compared.
const CHECKED: usize = 20_000;
/// Benchmark scenes and numbers of spheres that are timed, small worlds first.
const TIMED: [(Scene, usize); 10] = [
    (Scene::Gas, 100_000),
    (Scene::Lattice, 137_842),
    (Scene::Gas, 1_000_000),
    (Scene::Dense, 1_000_000),
    (Scene::Clustered, 1_000_000),
    (Scene::Lattice, 1_000_000),
    (Scene::Polydisperse, 1_000_000),
    (Scene::Fast, 1_000_000),
    (Scene::Thermal, 1_000_000),
    (Scene::Gas, 10_000_000),
];
const LEFT_OUT: &str = "left out because of the time limit";

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
    limit_seconds: u32,
    transfers: Transfers,
    checks: Vec<Check>,
    timings: Vec<Timing>,
    /// The checks and measurements that were left out because of the time limit.
    left_out: Vec<String>,
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
    /// Why the benchmark scene was skipped or failed. `None` if the scene was timed.
    failure: Option<String>,
}

#[derive(Serialize)]
struct Measured {
    /// Number of timed calls.
    calls: usize,
    median_seconds: f64,
    min_seconds: f64,
    /// Median of the calls of the CPU backend with all threads. `None` if they were left out because of the time limit.
    cpu_seconds: Option<f64>,
    pairs: u64,
    candidates: u64,
    floor_seconds: Option<f64>,
    stages: Vec<(&'static str, f64)>,
    /// The times of the kernels. `None` if they were not measured because of the time limit. Empty if the
    /// device has no timestamps.
    kernels: Option<Vec<KernelTime>>,
}

/// Writes the files `report.md` and `report.json` to the folder. Returns an error if a check or a
/// world failed. The files are complete in this case too.
pub(super) fn run(arguments: &Args, folder: &Path) -> anyhow::Result<()> {
    let duration = Duration::from_secs(arguments.within.into());
    let limit = Limit {
        end: Instant::now() + duration,
    };
    // With `Backend::Auto`, carom never chooses a software adapter. With `Backend::Gpu`, it chooses one if
    // there is no hardware GPU.
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
        limit_seconds: arguments.within,
        transfers: Transfers::measure(&gpu)?,
        checks: Vec::new(),
        timings: Vec::new(),
        left_out: Vec::new(),
    };
    let mut longest = Duration::ZERO;
    for scene in Scene::ALL {
        let start = Instant::now();
        let check = check(arguments, scene, limit.allows(longest));
        longest = longest.max(start.elapsed());
        if check.failure.as_deref() == Some(LEFT_OUT) {
            report
                .left_out
                .push(format!("the comparison of the lists of `{scene}`"));
        }
        report.checks.push(check);
        report.write(folder)?;
    }
    // Time of a step divided by the number of spheres, in seconds, in the slowest world so far.
    let mut slowest = 0.0_f64;
    for (scene, n) in TIMED {
        let n = n.min(arguments.most());
        let start = Instant::now();
        let expected = Duration::try_from_secs_f64(slowest * n as f64).unwrap_or(Duration::MAX);
        let timing = if limit.allows(expected) {
            measure(arguments, &gpu, scene, n, &limit)
        } else {
            Err(anyhow!(LEFT_OUT))
        };
        slowest = slowest.max(start.elapsed().as_secs_f64() / n.max(1) as f64);
        report
            .left_out
            .extend(left_out(arguments, scene, n, &timing));
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
        "{failures} checks or worlds failed or were left out; see {}",
        folder.join("report.md").display()
    );
    Ok(())
}

fn detector(backend: Backend) -> Result<Detector, carom::Error> {
    Detector::new(Options::new().with_backend(backend))
}

/// Names the measurements of a benchmark world that the report lacks because of the time limit.
fn left_out(
    arguments: &Args,
    scene: Scene,
    n: usize,
    timing: &anyhow::Result<Measured>,
) -> Vec<String> {
    let world = format!("`{scene}` with {n} spheres");
    let measured = match timing {
        Ok(measured) => measured,
        Err(error) if error.to_string() == LEFT_OUT => return vec![world],
        Err(_) => return Vec::new(),
    };
    let repeats = arguments.repeats as usize;
    let calls = repeats - measured.calls;
    let of_calls = (calls > 0).then(|| format!("{calls} of {repeats} calls of {world}"));
    let kernels = measured.kernels.is_none();
    let of_kernels = kernels.then(|| format!("the kernels of {world}"));
    let of_cpu = (measured.cpu_seconds.is_none()).then(|| format!("the CPU on {world}"));
    of_calls
        .into_iter()
        .chain(of_kernels)
        .chain(of_cpu)
        .collect()
}

/// Compares the GPU's list of pairs with that of the CPU, bit for bit. The caller sets `in_time` to
/// false if no time is left. Then `check` does not compare the lists.
fn check(arguments: &Args, scene: Scene, in_time: bool) -> Check {
    let n = CHECKED.min(arguments.most());
    let spheres = scene.generate(n, arguments.seed);
    let list = |backend| -> anyhow::Result<Vec<[u32; 4]>> {
        let found = detector(backend)?.detect(&Step::new(&spheres, 1.0))?;
        Ok(found.pairs.iter().map(bits).collect())
    };
    let compared = || -> anyhow::Result<usize> {
        ensure!(in_time, LEFT_OUT);
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

fn milliseconds(seconds: Option<f64>) -> String {
    seconds.map_or("-".to_owned(), |seconds| format!("{:.3}", seconds * 1e3))
}

fn bits(pair: &Collision) -> [u32; 4] {
    [pair.a, pair.b, pair.toi.to_bits(), pair.depth.to_bits()]
}

fn measure(
    arguments: &Args,
    gpu: &Gpu,
    scene: Scene,
    n: usize,
    limit: &Limit,
) -> anyhow::Result<Measured> {
    let spheres = scene.generate(n, arguments.seed);
    let mut detector = detector(Backend::Gpu)?;
    let mut found = detector.detect(&Step::new(&spheres, 1.0))?;
    let timed = limit.repeat(arguments.repeats, || {
        let start = Instant::now();
        detector.detect_into(&Step::new(&spheres, 1.0), &mut found)?;
        Ok((start.elapsed().as_secs_f64(), found.statistics.clone()))
    })?;
    let (seconds, calls): (Vec<f64>, Vec<Statistics>) = timed.into_iter().unzip();
    let longest = seconds.iter().copied().fold(0.0, f64::max);
    // The kernels are timed in other buffers than those of the detector. Before the timed steps,
    // one more step makes these buffers large enough. So there must be time for at least two steps.
    let expected = Duration::try_from_secs_f64(2.0 * longest).unwrap_or(Duration::MAX);
    let kernels = limit
        .allows(expected)
        .then(|| gpu.times(&spheres, arguments.repeats, limit))
        .transpose()?;
    // A slow GPU may take less time than the CPU.
    let expected = Duration::try_from_secs_f64(8.0 * longest).unwrap_or(Duration::MAX);
    let on_cpu = limit
        .allows(expected)
        .then(|| cpu_seconds(arguments, &spheres, limit))
        .transpose()?;
    let facts = &found.statistics;
    let stages = facts.stages.iter().map(|&(name, _)| name);
    Ok(Measured {
        calls: calls.len(),
        min_seconds: seconds.iter().copied().fold(f64::INFINITY, f64::min),
        median_seconds: median(seconds),
        cpu_seconds: on_cpu,
        pairs: facts.pairs,
        candidates: facts.candidates,
        floor_seconds: arguments
            .bandwidth
            .map(|bandwidth| floor::least_bytes(facts.spheres, facts.pairs) as f64 / bandwidth),
        stages: stages
            .map(|name| (name, median_of_stage(name, &calls)))
            .collect(),
        kernels,
    })
}

fn cpu_seconds(arguments: &Args, spheres: &[Sphere], limit: &Limit) -> anyhow::Result<f64> {
    let mut detector = detector(Backend::Cpu)?;
    let mut found = detector.detect(&Step::new(spheres, 1.0))?;
    let seconds = limit.repeat(arguments.repeats, || {
        let start = Instant::now();
        detector.detect_into(&Step::new(spheres, 1.0), &mut found)?;
        Ok(start.elapsed().as_secs_f64())
    })?;
    Ok(median(seconds))
}

impl Report {
    fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let json = serde_json::to_string_pretty(self)?;
        for (name, text) in [("report.md", self.table()), ("report.json", json)] {
            let path = folder.join(name);
            let file = OutputFile::create(&path)?;
            let written = file.file()?.write_all(text.as_bytes());
            written.with_context(|| file.cannot_write())?;
            file.finish()?;
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
            "# carom {} on a GPU\n\nAdapter: {}. {} System: {}. Seed {}; medians of {} calls. Time \
             limit: {} s.\n\n\
             ## Lists of the GPU and the CPU\n\n| scene | spheres | pairs | result |\n|---|---:|---:|---|\n",
            self.version,
            self.adapter,
            self.gpu.lines(),
            self.system,
            self.seed,
            self.repeats,
            self.limit_seconds
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
        text.push_str(&self.transfers.table());
        text.push_str(
            "\n## Times in milliseconds\n\nThe time of a call includes transfers from and to the GPU. CPU is the time of the CPU \
             backend with all threads. If the GPU has no timestamps, only the stages on the CPU are listed.\n\n\
             | scene | spheres | call | least | CPU | floor | pairs | candidates | stages |\n\
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
        if !self.left_out.is_empty() {
            text.push_str("\n## Left out because of the time limit\n\n");
        }
        for what in &self.left_out {
            _ = writeln!(text, "- {what}");
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
            milliseconds(measured.cpu_seconds),
            milliseconds(measured.floor_seconds),
            measured.pairs,
            measured.candidates,
            stages.join(", ")
        )
    }

    /// Returns a table of the kernels, or nothing if their times are not known.
    fn kernel_table(&self) -> String {
        let measured = self.measured.as_ref();
        let kernels = measured.and_then(|measured| measured.kernels.as_ref());
        let kernels = kernels.into_iter().flatten();
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
                     | kernel | dispatches | workgroup | time |\n|---|---:|---:|---:|\n",
                    self.scene, self.n
                );
            }
            let workgroup = workgroup_size.map_or("-".to_owned(), |size| size.to_string());
            _ = writeln!(
                text,
                "| {name} | {dispatches} | {workgroup} | {:.4} |",
                seconds * 1e3
            );
        }
        text
    }
}
