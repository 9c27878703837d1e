//! The command line of `carom bench`, and the benchmark scenes that the command line selects.

use std::path::PathBuf;

use carom::Backend;
use carom_formats::read::{Input, ReadOptions};
use carom_scenes::{Parameters, Scene};
use clap::ValueEnum;

use crate::read_args::{ReadArgs, time_step};

/// Command-line arguments of `carom bench`. The description of the subcommand is in `main.rs`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Benchmark scenes to time: gas, dense, polydisperse, fast, clustered, lattice, touching, thermal, or
    /// all
    ///
    /// All combinations of the given scenes, numbers of spheres and parameters are timed. Separate several
    /// values of --scene, --n, --density, --ratio or --bullets by commas.
    #[arg(long, default_value = "all", value_delimiter = ',', value_parser = scenes_of)]
    scene: Vec<Scenes>,
    /// Numbers of spheres in each benchmark scene; without this option, 100000
    #[arg(long, value_delimiter = ',', value_parser = count)]
    n: Vec<usize>,
    /// Densities of the benchmark scenes, such as 0.3, instead of each scene's own density
    ///
    /// The density of a scene is the sum of the volumes of the spheres, divided by the volume of the cube
    /// that the scene fills. The scenes `lattice` and `touching` have a fixed density.
    #[arg(long, value_name = "D", value_delimiter = ',', value_parser = density)]
    density: Vec<f64>,
    /// Ratios of the largest to the smallest radius in the benchmark scenes, instead of each scene's own
    /// ratio
    ///
    /// Only the benchmark scenes `polydisperse` and `thermal` have spheres of different radii.
    #[arg(long, value_name = "R", value_delimiter = ',', value_parser = ratio)]
    ratio: Vec<f32>,
    /// Distances that bullets move in the scene `fast`, in sphere diameters; 50 by default
    ///
    /// Bullets are fast spheres. In the scene `fast`, one sphere in a hundred is a bullet.
    #[arg(long, value_name = "L", value_delimiter = ',', value_parser = bullets)]
    bullets: Vec<f32>,
    /// Time the spheres in this file instead of benchmark scenes; needs --dt
    ///
    /// The file may have any format that `carom collide` reads: CSV, LAMMPS dump, XYZ or NumPy arrays. Of a
    /// LAMMPS dump or an XYZ file, the last frame is timed.
    #[arg(long, value_name = "FILE", requires = "dt",
        conflicts_with_all = ["scene", "n", "density", "ratio", "bullets", "seed"])]
    input: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadArgs,
    /// Length of the time step; required with --input, otherwise 1 by default
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = time_step)]
    dt: Option<f64>,
    /// Set the velocities of all spheres to 0
    #[arg(long)]
    pub(crate) at_rest: bool,
    /// Seed of the random numbers from which benchmark scenes are made
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Processor (GPU or CPU) that searches for the colliding pairs
    #[arg(long, default_value = "auto")]
    backend: Where,
    /// Number of threads of the CPU backend; 0 means one for each core
    #[arg(long, default_value_t = 0, value_parser = threads)]
    pub(crate) threads: usize,
    /// Number of timed calls of carom in each run, after one call to warm up
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeats: u32,
    /// Check the list of colliding pairs in exact arithmetic before each scene or file is timed
    ///
    /// The check tests randomly chosen spheres against all others. It makes up to about 200 million
    /// tests, which take some seconds. They suffice to test every sphere in a world of up to 14142
    /// spheres, because 14142² is about 200 million.
    #[arg(long)]
    pub(crate) check: bool,
    /// Time the same numbers in float64, too
    ///
    /// After each timed call, the same step is timed with spheres in float64, once as records and once as columns. A
    /// further row for each of them has its time as a multiple of the time in float32.
    #[arg(long)]
    pub(crate) float64: bool,
    /// Memory bandwidth for computing the floor (the least time of a step), instead of a measured bandwidth
    ///
    /// The floor is the time in which the memory can move the bytes that any method must move in a step.
    /// Without the option --bandwidth, the bandwidth is measured with a copy of 512 MiB on the same number of
    /// threads. The bandwidth of a GPU is not measured, so runs on a GPU have no floor without --bandwidth.
    #[arg(long, value_name = "GB/s", value_parser = bandwidth)]
    pub(crate) bandwidth: Option<f64>,
    /// Check and time the GPU backend, and write a report to this folder
    ///
    /// The report, the files `report.md` and `report.json`, is for the developers of carom. It has the GPU,
    /// a comparison of the lists of the GPU and the CPU on all benchmark scenes, and the times of the stages
    /// on worlds of up to 10 million spheres. With --n, no world has more spheres than that number. The
    /// report names the checks and measurements that were left out because of --within.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["scene", "density", "ratio", "bullets",
        "input", "at_rest", "check", "float64", "threads", "dt"])]
    pub(crate) gpu_report: Option<PathBuf>,
    /// Time limit of --gpu-report, in seconds
    ///
    /// After this time, no further step is checked or timed. A step that is under way is completed first, so
    /// the report may end later than the limit by the duration of one step.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 480,
        requires = "gpu_report"
    )]
    pub(crate) within: u32,
}

const AFTER_HELP: &str = "\
The table has the median, the minimum and the maximum of the times, and the columns below. The keys
of the JSON lines are in parentheses. There, times are in seconds and sizes in bytes.
  ns/n     median time for each sphere, in nanoseconds
  levels   number of grids, each with cells of one size
  prox/n   grid entries for each sphere; a fast sphere has one for each time segment (proxies)
  cand/n   pairs of grid entries that were tested, for each sphere (candidates)
  pairs/n  pairs that touch, for each sphere
  grazing  pairs that the swept test could not decide, in float32 on a GPU and in float64 on the
           CPU (grazing_by_integers: the part of them that float64 could not decide)
  MiB      working memory that carom keeps, without the spheres and the list (memory)
  x floor  median time divided by the floor (over_floor; the floor is floor_bytes divided by
           bandwidth, in bytes per second)
With --float64, the rows `records` and `columns` have the times in float64 instead (float64), and
`x float32`, the median of the ratios of consecutive times in float64 and in float32 (over_float32).
JSON lines also have the number of slots of the grids (slots), the bytes that each stage moves in
the model of docs/performance.md (moved), the time of each stage (stages), and the number of pairs
that --check tested (checked).

Examples of how the cost grows (for one thread of the CPU, add --backend cpu --threads 1):
  carom bench --n 1000,10000,100000,1000000
  carom bench --n 1000000 --scene gas --density 0.01,0.05,0.1,0.2,0.3,0.4,0.5,0.6
  carom bench --n 1000000 --scene polydisperse --ratio 1,3,10,30,100,300,1000
  carom bench --n 1000000 --scene fast --bullets 0,10,50,100,200,500
  carom bench --scene thermal
  carom bench --scene thermal --at-rest
  carom bench --n 1000000 --scene gas,dense --float64 --repeats 31
  carom bench --input grains.csv --dt 1e-4 --check
Redirect standard output to a file to plot the results with `plot` of the package carom-peers.";

type Scenes = Vec<Scene>;

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Where {
    /// Run on a hardware GPU if there is one, otherwise on the CPU
    Auto,
    /// Run on a GPU or a software adapter (a GPU emulated on the CPU); an error if there is neither
    Gpu,
    /// Run on the CPU
    Cpu,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) scene: Scene,
    pub(crate) n: usize,
    pub(crate) parameters: Parameters,
}

impl Args {
    /// Fails if arguments contradict each other.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.gpu_report.is_some() && matches!(self.backend, Where::Cpu) {
            let what = "`--gpu-report` needs a GPU: leave out `--backend cpu`";
            return Err(what.to_owned());
        }
        self.cases()?;
        if self.input()?.is_none() && self.reading.is_given() {
            let what = "`--format` and the radii apply to a file only: name a file with `--input`";
            return Err(what.to_owned());
        }
        Ok(())
    }

    pub(crate) fn input(&self) -> Result<Option<Input>, String> {
        let input = self
            .input
            .as_ref()
            .map(|path| self.reading.input(std::slice::from_ref(path)));
        input.transpose()
    }

    pub(crate) fn read_options(&self) -> ReadOptions {
        // The box of a file is not used.
        ReadOptions {
            open: true,
            at_rest: self.at_rest,
            ..self.reading.options()
        }
    }

    pub(crate) fn dt(&self) -> f32 {
        self.dt.map_or(1.0, crate::world_args::single)
    }

    pub(crate) fn backend(&self) -> Backend {
        match self.backend {
            Where::Auto => Backend::Auto,
            Where::Gpu => Backend::Gpu,
            Where::Cpu => Backend::Cpu,
        }
    }

    /// Returns the largest number of spheres that a world of `--gpu-report` may have. This is the largest
    /// value of `--n`. Without this option, there is no limit.
    #[cfg(feature = "native")]
    pub(crate) fn most(&self) -> usize {
        self.n.iter().copied().max().unwrap_or(usize::MAX)
    }

    /// Returns every combination of the requested benchmark scenes, numbers of spheres and parameters, or an
    /// error message if a scene lacks one of the parameters.
    pub(crate) fn cases(&self) -> Result<Vec<Case>, String> {
        let mut cases = Vec::new();
        for &scene in self.scene.iter().flatten() {
            let free = [
                ("density", self.density.is_empty() || scene.has_density()),
                ("ratio", self.ratio.is_empty() || scene.has_ratio()),
                ("bullets", self.bullets.is_empty() || scene.has_bullets()),
            ];
            if let Some((name, _)) = free.into_iter().find(|(_, free)| !free) {
                return Err(format!(
                    "the scene `{scene}` has no {name} that can be set: leave out --{name}, or \
                     name other scenes with --scene"
                ));
            }
            let own = scene.parameters();
            for n in or(&self.n, 100_000) {
                for density in or(&self.density, own.density) {
                    for ratio in or(&self.ratio, own.ratio) {
                        for bullets in or(&self.bullets, own.bullets) {
                            let parameters = Parameters {
                                density,
                                ratio,
                                bullets,
                            };
                            cases.push(Case {
                                scene,
                                n,
                                parameters,
                            });
                        }
                    }
                }
            }
        }
        Ok(cases)
    }
}

/// Returns the values given for a parameter of a benchmark scene, or the scene's own value if none was given.
fn or<T: Copy>(asked: &[T], own: T) -> Vec<T> {
    if asked.is_empty() {
        vec![own]
    } else {
        asked.to_vec()
    }
}

fn scenes_of(name: &str) -> Result<Scenes, String> {
    match name {
        "all" => Ok(Scene::ALL.to_vec()),
        name => name.parse().map(|scene| vec![scene]),
    }
}

/// Parses a number of spheres, at most 2³⁰, the limit of the library.
fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n <= 1 << 30 => Ok(n),
        _ => Err("the number of spheres must be a whole number from 0 to 2^30".into()),
    }
}

fn threads(text: &str) -> Result<usize, String> {
    let most = crate::world_args::most_threads();
    match text.parse() {
        Ok(threads) if threads <= most => Ok(threads),
        _ => Err(format!(
            "the number of threads must be a whole number from 0 to {most}"
        )),
    }
}

fn density(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if (1e-9..=1e3).contains(&x) => Ok(x),
        _ => Err("a density must be a number from 1e-9 to 1000, such as 0.3".into()),
    }
}

fn ratio(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(x) if (1.0..=1e9).contains(&x) => Ok(x),
        _ => Err("a ratio must be a number from 1 to 1e9".into()),
    }
}

fn bullets(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(x) if (0.0..=1e9).contains(&x) => Ok(x),
        _ => Err("a distance must be a number of diameters from 0 to 1e9".into()),
    }
}

/// Parses a memory bandwidth in GB/s, and returns bytes per second.
fn bandwidth(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && (x * 1e9).is_finite() => Ok(x * 1e9),
        _ => Err("a bandwidth must be a number of GB/s above 0".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        args: Args,
    }

    fn cases(arguments: &str) -> Result<Vec<Case>, String> {
        let words = ["bench"].into_iter().chain(arguments.split_whitespace());
        let parsed = Command::try_parse_from(words).map_err(|error| error.to_string())?;
        parsed.args.cases()
    }

    #[test]
    fn without_options_all_scenes_have_their_published_parameters() -> Result<(), String> {
        let cases = cases("")?;
        assert_eq!(cases.len(), Scene::ALL.len());
        for (case, scene) in cases.into_iter().zip(Scene::ALL) {
            assert_eq!((case.scene, case.n), (scene, 100_000));
            assert_eq!(case.parameters, scene.parameters());
        }
        Ok(())
    }

    #[test]
    fn lists_of_values_give_all_combinations() -> Result<(), String> {
        let made =
            cases("--scene polydisperse,thermal --n 10,20 --ratio 1,10,100 --density 0.1,0.2")?;
        assert_eq!(made.len(), 2 * 2 * 3 * 2);
        let far = cases("--scene fast --bullets 0,500")?;
        assert_eq!(far.last().map(|case| case.parameters.bullets), Some(500.0));
        Ok(())
    }

    #[test]
    fn a_parameter_that_a_scene_lacks_is_an_error_that_names_both() {
        for (arguments, scene, option) in [
            (
                "--scene gas,lattice --density 0.1",
                "`lattice`",
                "--density",
            ),
            ("--scene gas --ratio 10", "`gas`", "--ratio"),
            ("--bullets 10", "`gas`", "--bullets"),
        ] {
            let error = cases(arguments).err().unwrap_or_default();
            assert!(error.contains(scene) && error.contains(option), "{error}");
        }
    }

    #[test]
    fn invalid_values_are_rejected() {
        for wrong in [
            "--density 0",
            "--density nan",
            "--scene thermal --ratio 0.5",
            "--scene fast --bullets -1",
            "--bandwidth 0",
            "--bandwidth 1e300",
            "--n 1073741825",
            "--dt inf",
            "--repeats 0",
            "--input spheres.csv",
            "--gpu-report out --scene gas",
            "--input spheres.csv --dt 1 --n 10",
        ] {
            assert!(cases(wrong).is_err(), "{wrong}");
        }
    }
}
