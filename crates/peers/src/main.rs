//! Times carom's CPU backend against its peers, in the same run.
//!
//! ```sh
//! cargo run --release -p carom-peers -- --scene gas,fast --n 100000,1000000
//! ```

mod contenders;
mod step;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use carom::{Backend, Collision, Detector, Options, Step};
use carom_scenes::Scene;
use clap::Parser;
use cpu_time::ProcessTime;
use serde::Serialize;

use contenders::{Contender, NAMES};
use step::{World, differences};

/// Times carom's CPU backend against its peers.
///
/// All get the same spheres and give the same list: every pair that touches within the step, with
/// its time of impact, sorted. A peer that finds boxes or neighbours is given swept ones, and the
/// same test in float64 for each of its candidates. What it takes to bring the spheres into a peer's
/// own form counts; making the scene does not. Trees that are kept have seen the step before, which
/// does not count either.
///
/// Each contender runs once to warm up, which is also when its list is held against the exact one,
/// and then all take turns: each steps for 40 ms or more untimed, then once timed. Medians are
/// given, and their ratios to carom on the first number of threads: of the clock's time, and of the
/// processors' time, of all threads together, which tells more where other programs run, too.
#[derive(Parser)]
#[command(after_help = help_of_names())]
struct Arguments {
    /// Scenes by name, or `all`: gas, dense, polydisperse, fast, clustered, lattice, touching,
    /// thermal.
    #[arg(long, default_value = "all", value_delimiter = ',', value_parser = scenes_of)]
    scene: Vec<Scenes>,
    /// Numbers of spheres.
    #[arg(long, default_value = "100000", value_delimiter = ',')]
    n: Vec<usize>,
    /// Threads of carom, which runs once for each number. All peers run on one.
    #[arg(long, default_value = "1", value_delimiter = ',',
        value_parser = clap::value_parser!(u16).range(1..))]
    threads: Vec<u16>,
    /// Timed rounds.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Contenders by name, or `all`. carom always runs.
    #[arg(long, default_value = "all", value_delimiter = ',')]
    contenders: Vec<String>,
    /// Seconds after which a contender is given no second run.
    #[arg(long, default_value_t = 10.0)]
    patience: f64,
    /// Seed of the scenes' random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON lines instead of tables.
    #[arg(long)]
    json: bool,
}

/// What one `--scene` name stands for.
type Scenes = Vec<Scene>;

fn scenes_of(name: &str) -> Result<Scenes, String> {
    match name {
        "all" => Ok(Scene::ALL.to_vec()),
        name => name.parse().map(|scene| vec![scene]),
    }
}

fn help_of_names() -> String {
    let lines = NAMES.map(|(name, what)| format!("\n  {name:<12} {what}"));
    format!("Contenders:{}", lines.concat())
}

/// One line of output: a contender in a scene of one size.
#[derive(Serialize)]
struct Row {
    scene: &'static str,
    n: usize,
    seed: u64,
    contender: &'static str,
    threads: usize,
    /// Runs that the median is of; 1 if it took too long for a second.
    runs: usize,
    median_seconds: Option<f64>,
    /// Of all threads together, and not while others had the processor.
    median_cpu_seconds: Option<f64>,
    pairs: Option<usize>,
    candidates: Option<u64>,
    /// Pairs that are not as in the exact list.
    differences: Option<u64>,
    /// Pairs so near to tangency that float32 may not tell them: no more may differ.
    grazing: u64,
    /// The median over that of carom.
    ratio: Option<f64>,
    cpu_ratio: Option<f64>,
    /// Why it did not run.
    not_applicable: Option<String>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let names = names(&arguments.contenders)?;
    for &scene in arguments.scene.iter().flatten() {
        for &n in &arguments.n {
            let rows = race(scene, n, &names, &arguments)
                .with_context(|| format!("{scene} of {n} spheres"))?;
            let mut out = std::io::stdout().lock();
            if arguments.json {
                for row in &rows {
                    writeln!(out, "{}", serde_json::to_string(row)?)?;
                }
            } else {
                print_table(&mut out, &rows)?;
            }
        }
    }
    Ok(())
}

/// The contenders asked for, carom first.
fn names(asked: &[String]) -> anyhow::Result<Vec<&'static str>> {
    let all = || NAMES.map(|(name, _)| name).into_iter();
    if let Some(name) = asked.iter().find(|&a| a != "all" && !all().any(|b| a == b)) {
        let names = all().collect::<Vec<_>>().join(", ");
        bail!("there is no contender `{name}`; the contenders are {names}");
    }
    let wanted = |name: &&str| *name == "carom" || asked.iter().any(|a| a == name || a == "all");
    Ok(all().filter(wanted).collect())
}

/// Runs all contenders in one scene of one size, in turns.
fn race(
    scene: Scene,
    n: usize,
    names: &[&'static str],
    arguments: &Arguments,
) -> anyhow::Result<Vec<Row>> {
    let spheres = scene.generate(n, arguments.seed);
    let world = World {
        spheres: &spheres,
        dt: 1.0,
    };
    let exact = Exact::of(world)?;
    let threads: Vec<usize> = arguments.threads.iter().map(|&n| n.into()).collect();
    let mut runners = Vec::new();
    for name in names {
        for contender in contenders::by_name(name, &threads)? {
            let mut row = Row {
                scene: scene.name(),
                n,
                seed: arguments.seed,
                contender: contender.name(),
                threads: contender.threads(),
                runs: 0,
                median_seconds: None,
                median_cpu_seconds: None,
                pairs: None,
                candidates: None,
                differences: None,
                grazing: exact.grazing,
                ratio: None,
                cpu_ratio: None,
                not_applicable: contender.refusal(world),
            };
            let mut runner = Runner {
                contender,
                seconds: Vec::new(),
                cpu_seconds: Vec::new(),
            };
            let again = row.not_applicable.is_none()
                && warm_up(&mut runner, world, &exact, &mut row)? <= arguments.patience;
            if again {
                // A first run also grows what is kept, so it does not count.
                runner.seconds.clear();
                runner.cpu_seconds.clear();
            }
            runners.push((runner, row, again));
        }
    }
    for _ in 0..arguments.repeats {
        for (runner, _, _) in runners.iter_mut().filter(|(_, _, again)| *again) {
            runner.wake(world)?;
            runner.run(world)?;
        }
    }
    let mut rows = Vec::new();
    let [mut of_carom, mut cpu_of_carom] = [None; 2];
    let over = |own: Option<f64>, carom: Option<f64>| Some(own? / carom?);
    for (runner, mut row, _) in runners {
        row.runs = runner.seconds.len();
        row.median_seconds = median(runner.seconds);
        row.median_cpu_seconds = median(runner.cpu_seconds);
        of_carom = of_carom.or(row.median_seconds);
        cpu_of_carom = cpu_of_carom.or(row.median_cpu_seconds);
        row.ratio = over(row.median_seconds, of_carom);
        row.cpu_ratio = over(row.median_cpu_seconds, cpu_of_carom);
        rows.push(row);
    }
    Ok(rows)
}

/// What all are held against: carom's list, which is exact.
struct Exact {
    pairs: Vec<Collision>,
    /// Pairs that would touch with slightly larger radii, but not with smaller ones.
    grazing: u64,
}

/// How much larger or smaller: more than float32 is off by in any contender.
const GRAZING: f32 = 1.0 / 65536.0;

impl Exact {
    fn of(world: World<'_>) -> anyhow::Result<Self> {
        let mut detector = Detector::new(Options::new().with_backend(Backend::Cpu))?;
        let mut pairs_with = |radii: f32| {
            let mut spheres = world.spheres.to_vec();
            spheres.iter_mut().for_each(|sphere| sphere.radius *= radii);
            detector.detect(&Step::new(&spheres, world.dt))
        };
        let more = pairs_with(1.0 + GRAZING)?.pairs.len();
        let fewer = pairs_with(1.0 - GRAZING)?.pairs.len();
        Ok(Self {
            pairs: pairs_with(1.0)?.pairs,
            grazing: (more - fewer) as u64,
        })
    }
}

/// A contender, and how long its runs took.
struct Runner {
    contender: Box<dyn Contender>,
    seconds: Vec<f64>,
    cpu_seconds: Vec<f64>,
}

/// How long a contender steps before a timed step.
const AWAKE: Duration = Duration::from_millis(40);

impl Runner {
    /// Steps once or more, untimed, so that no contender is timed with the caches as another left
    /// them, or on threads that have slept while others ran and that the system takes some
    /// milliseconds to spread over the cores.
    fn wake(&mut self, world: World<'_>) -> anyhow::Result<()> {
        let start = Instant::now();
        while start.elapsed() < AWAKE {
            self.contender.prepare(world)?;
            self.contender.step(world)?;
        }
        Ok(())
    }

    /// Times a step. The list is thrown away after the clock has stopped.
    fn run(&mut self, world: World<'_>) -> anyhow::Result<step::Found> {
        self.contender.prepare(world)?;
        let (start, cpu_start) = (Instant::now(), ProcessTime::try_now()?);
        let found = self.contender.step(world)?;
        self.seconds.push(start.elapsed().as_secs_f64());
        self.cpu_seconds
            .push(cpu_start.try_elapsed()?.as_secs_f64());
        Ok(found)
    }
}

/// Runs a contender for the first time, checks its list, and says how long it took.
fn warm_up(
    runner: &mut Runner,
    world: World<'_>,
    exact: &Exact,
    row: &mut Row,
) -> anyhow::Result<f64> {
    let found = runner.run(world).context(row.contender)?;
    let differences = differences(&found.pairs, &exact.pairs, world.dt);
    ensure!(
        differences <= exact.grazing,
        "{} has {} pairs where there are {}, and {differences} of them differ, but only {} graze",
        row.contender,
        found.pairs.len(),
        exact.pairs.len(),
        exact.grazing,
    );
    row.pairs = Some(found.pairs.len());
    row.candidates = Some(found.candidates);
    row.differences = Some(differences);
    Ok(runner.seconds.first().copied().unwrap_or(0.0))
}

fn print_table(out: &mut impl Write, rows: &[Row]) -> anyhow::Result<()> {
    if let Some(Row {
        scene, n, grazing, ..
    }) = rows.first()
    {
        writeln!(out, "{scene}, {n} spheres ({grazing} pairs graze)")?;
    }
    writeln!(
        out,
        "  {:<12} {:>7} {:>10} {:>7} {:>10} {:>9} {:>4} {:>8} {:>12} {:>6}",
        "contender",
        "threads",
        "median ms",
        "ratio",
        "cpu ms",
        "cpu ratio",
        "runs",
        "pairs",
        "candidates/n",
        "differ"
    )?;
    for row in rows {
        write!(out, "  {:<12} {:>7} ", row.contender, row.threads)?;
        match (row.median_seconds, &row.not_applicable) {
            (Some(seconds), _) => writeln!(
                out,
                "{:>10.2} {:>7.2} {:>10.2} {:>9.2} {:>4} {:>8} {:>12.1} {:>6}",
                seconds * 1e3,
                row.ratio.unwrap_or(f64::NAN),
                row.median_cpu_seconds.unwrap_or(f64::NAN) * 1e3,
                row.cpu_ratio.unwrap_or(f64::NAN),
                row.runs,
                row.pairs.unwrap_or(0),
                row.candidates.unwrap_or(0) as f64 / row.n.max(1) as f64,
                row.differences.unwrap_or(0),
            )?,
            (None, Some(reason)) => writeln!(out, "not applicable: {reason}")?,
            (None, None) => writeln!(out, "did not run")?,
        }
    }
    writeln!(out)?;
    Ok(())
}

/// The value in the middle, or the mean of the two there.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = values.get(middle).copied()?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = values.get(middle.checked_sub(1)?).copied()?;
    Some((lower + upper) / 2.0)
}
