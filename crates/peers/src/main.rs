//! Times carom's CPU backend and other methods that find the same touching pairs of moving spheres. All
//! methods run in the same process and take turns.
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

/// Times carom's CPU backend and its peers, which are other methods to find the same touching pairs of moving
/// spheres. Each timed method is called a contender.
///
/// All contenders get the same spheres and return the same sorted list: every pair of spheres that touches
/// during the time step, with its time of impact. Some peers find only overlapping boxes or neighbouring
/// points. Such a peer gets the bounding boxes or bounding balls of the spheres' motions, and each candidate
/// pair that it finds is then tested in float64. The time of a step includes the conversion of the spheres to
/// the peer's own format, but not the generation of the scene. Contenders that keep a tree start from the
/// tree of the previous step, and the time to build that tree is not included.
///
/// Each contender first runs once to warm up, and its list is compared with the exact list. Then the
/// contenders take turns: in its turn, a contender runs untimed for 40 ms or more, and then once timed. The
/// output has two medians for each contender: of the elapsed time, and of the processor time summed over all
/// threads. Both are also divided by the times of carom with the first number of `--threads`. While other
/// programs run on the machine, the processor time is more reliable than the elapsed time.
#[derive(Parser)]
#[command(after_help = help_of_names())]
struct Arguments {
    /// Names of benchmark scenes, or `all`: gas, dense, polydisperse, fast, clustered, lattice, touching,
    /// thermal.
    #[arg(long, default_value = "all", value_delimiter = ',', value_parser = scenes_of)]
    scene: Vec<Scenes>,
    /// Numbers of spheres. Each scene is timed with each of these numbers.
    #[arg(long, default_value = "100000", value_delimiter = ',')]
    n: Vec<usize>,
    /// Numbers of threads. carom runs once with each of these numbers. All other methods run on one thread.
    #[arg(long, default_value = "1", value_delimiter = ',',
        value_parser = clap::value_parser!(u16).range(1..))]
    threads: Vec<u16>,
    /// Number of timed runs of each contender (carom or another method).
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Names of contenders (carom and the methods compared with it), or `all`. carom always runs, even if it
    /// is not named.
    #[arg(long, default_value = "all", value_delimiter = ',')]
    contenders: Vec<String>,
    /// Largest time of a contender's first run, in seconds. A contender (carom or another method) that takes
    /// longer does not run again.
    #[arg(long, default_value_t = 10.0)]
    patience: f64,
    /// Seed of the random number generator that makes the spheres.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON lines instead of tables.
    #[arg(long)]
    json: bool,
}

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

/// One line of the benchmark's output: one method, one scene, one number of spheres.
#[derive(Serialize)]
struct Row {
    scene: &'static str,
    n: usize,
    seed: u64,
    contender: &'static str,
    threads: usize,
    /// Number of timed runs, or 1 if the first run took longer than `--patience`.
    runs: usize,
    median_seconds: Option<f64>,
    /// Median processor time of a time step in seconds, summed over all threads of this process.
    median_cpu_seconds: Option<f64>,
    pairs: Option<usize>,
    candidates: Option<u64>,
    differences: Option<u64>,
    /// Number of pairs of spheres too close to tangency to be decided in float32. The list of a method may
    /// differ from the exact list in at most this many pairs.
    grazing: u64,
    ratio: Option<f64>,
    cpu_ratio: Option<f64>,
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

fn names(asked: &[String]) -> anyhow::Result<Vec<&'static str>> {
    let all = || NAMES.map(|(name, _)| name).into_iter();
    if let Some(name) = asked.iter().find(|&a| a != "all" && !all().any(|b| a == b)) {
        let names = all().collect::<Vec<_>>().join(", ");
        bail!("there is no contender `{name}`; the contenders are {names}");
    }
    let wanted = |name: &&str| *name == "carom" || asked.iter().any(|a| a == name || a == "all");
    Ok(all().filter(wanted).collect())
}

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
                runner.seconds.clear();
                runner.cpu_seconds.clear();
            }
            runners.push((runner, row, again));
        }
    }
    for _ in 0..arguments.repeats {
        for (runner, _, _) in runners.iter_mut().filter(|(_, _, again)| *again) {
            runner.in_pool(|runner| {
                runner.wake(world)?;
                runner.run(world)
            })?;
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

/// The exact list of touching pairs, with which the list of every benchmarked method is compared.
struct Exact {
    pairs: Vec<Collision>,
    /// Number of grazing pairs. A pair is grazing if its spheres touch with all radii enlarged by the
    /// fraction [`GRAZING`], but not with all radii reduced by this fraction.
    grazing: u64,
}

/// A pair is grazing if it touches with all radii enlarged by this fraction, but not with all radii
/// reduced by it. The fraction exceeds the relative float32 rounding error of every benchmarked
/// method.
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
            pairs: pairs_with(1.0)?.pairs.into_parts().0,
            grazing: (more - fewer) as u64,
        })
    }
}

struct Runner {
    contender: Box<dyn Contender>,
    seconds: Vec<f64>,
    cpu_seconds: Vec<f64>,
}

const AWAKE: Duration = Duration::from_millis(40);

impl Runner {
    /// Calls `work` in the pool of the benchmarked method. So a timed run does not wait until a thread of the
    /// pool is awake.
    fn in_pool<T: Send>(&mut self, work: impl FnOnce(&mut Self) -> T + Send) -> T {
        match self.contender.pool() {
            Some(pool) => pool.install(|| work(self)),
            None => work(self),
        }
    }

    /// Runs a benchmarked method untimed for the duration [`AWAKE`]. Otherwise the timed run would start with
    /// processor caches filled by another method, and with sleeping threads.
    fn wake(&mut self, world: World<'_>) -> anyhow::Result<()> {
        let start = Instant::now();
        while start.elapsed() < AWAKE {
            self.contender.prepare(world)?;
            self.contender.step(world)?;
        }
        Ok(())
    }

    /// Runs a benchmarked method on one time step. The recorded time excludes the release of the list of
    /// pairs.
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

/// Runs a method, and counts the pairs in which its list of touching pairs differs from the exact list.
/// Returns an error if this count is larger than the number of grazing pairs (those too close to tangency for
/// float32).
fn warm_up(
    runner: &mut Runner,
    world: World<'_>,
    exact: &Exact,
    row: &mut Row,
) -> anyhow::Result<f64> {
    let found = runner.in_pool(|runner| runner.run(world));
    let found = found.context(row.contender)?;
    let differences = differences(&found.pairs, &exact.pairs, world.dt);
    ensure!(
        differences <= exact.grazing,
        "{} found {} pairs, the exact list has {}; {differences} differ, but only {} are grazing",
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
