//! The command line, and which worlds it asks for.

use std::path::PathBuf;

use carom::Backend;
use carom_cli::read::{Input, ReadOptions};
use carom_scenes::{Parameters, Scene};
use clap::ValueEnum;

use crate::exit_with_usage_error;
use crate::read_args::{ReadArgs, time_step};

/// Times carom on the scenes of its benchmark, or on a file.
///
/// A table for people goes to standard error, one JSON object a run to standard output. A run is
/// one call to warm up, which also grows buffers, and then the timed calls. Compare times taken on
/// one machine only; those of a software adapter (llvmpipe, lavapipe, WARP) say nothing about any
/// GPU.
///
/// The floor is what any method has to move, over the bandwidth of the memory: each sphere read
/// (32 bytes), a sorted copy of it written and read (64), each pair written (16).
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Scenes by name, or `all`: gas, dense, polydisperse, fast, clustered, lattice, touching,
    /// thermal.
    #[arg(long, default_value = "all", value_delimiter = ',', value_parser = scenes_of)]
    scene: Vec<Scenes>,
    /// Numbers of spheres.
    #[arg(long, default_value = "100000", value_delimiter = ',', value_parser = count)]
    n: Vec<usize>,
    /// Densities in place of the scene's own: the spheres' volumes over the cube's, such as 0.3.
    #[arg(long, value_name = "D", value_delimiter = ',', value_parser = density)]
    density: Vec<f64>,
    /// Ratios of the largest radius to the smallest, in place of the scene's own; of polydisperse
    /// and thermal.
    #[arg(long, value_name = "R", value_delimiter = ',', value_parser = ratio)]
    ratio: Vec<f32>,
    /// How many diameters one sphere in a hundred moves, in place of 50; of fast.
    #[arg(long, value_name = "L", value_delimiter = ',', value_parser = bullets)]
    bullets: Vec<f32>,
    /// Time this file instead of scenes: CSV, LAMMPS dump (its last frame) or NumPy arrays, as
    /// `carom collide` reads them.
    #[arg(long, value_name = "FILE", requires = "dt",
        conflicts_with_all = ["scene", "n", "density", "ratio", "bullets", "seed"])]
    input: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadArgs,
    /// Length of the time step: 1 for scenes unless given.
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = time_step)]
    dt: Option<f32>,
    /// Take away all velocities.
    #[arg(long)]
    pub(crate) at_rest: bool,
    /// Seed of the scenes' random numbers.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Where to do the work.
    #[arg(long, default_value = "auto")]
    backend: Where,
    /// Threads of the CPU backend; 0 takes one for each core.
    #[arg(long, default_value_t = 0)]
    pub(crate) threads: usize,
    /// Timed calls of each world.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeats: u32,
    /// Hold the list of each world against the truth before it is timed, in exact arithmetic: the
    /// pairs of some spheres, chosen at random, with all others. In a world of up to 14142 these are
    /// all spheres; in a larger one as many as make 200 million pairs, some seconds' worth.
    #[arg(long)]
    pub(crate) check: bool,
    /// Bandwidth of the memory, in place of that of a copy: 512 MiB on as many threads. That of a
    /// GPU is not measured.
    #[arg(long, value_name = "GB/s", value_parser = bandwidth)]
    pub(crate) bandwidth: Option<f64>,
}

const AFTER_HELP: &str = "\
The table, which has medians, the least and the most; and their names in the JSON lines, where times
are in seconds and sizes in bytes:
  ns/n     nanoseconds a sphere
  levels   grids of one cell size each
  prox/n   entries in the grids a sphere: spheres, or segments of fast ones (proxies)
  cand/n   pairs that were tested, for each sphere (candidates)
  pairs/n  pairs that touch, for each sphere
  grazing  pairs that the first test could not tell, in float32 on a GPU and in float64 on the
           CPU (those of them that took more than float64: grazing_by_integers)
  MiB      what carom keeps beside spheres and list (memory)
  x floor  times the floor (over_floor, of floor_bytes at bandwidth, in bytes a second)
JSON lines also have cells of the grids (slots), what each stage moves by the model of
docs/performance.md (moved), what each took (stages), and how many pairs --check tried (checked).

How cost grows, on one thread of the CPU if --backend cpu --threads 1 is added:
  carom bench --n 1000,10000,100000,1000000
  carom bench --n 1000000 --scene gas --density 0.01,0.05,0.1,0.2,0.3,0.4,0.5,0.6
  carom bench --n 1000000 --scene polydisperse --ratio 1,3,10,30,100,300,1000
  carom bench --n 1000000 --scene fast --bullets 0,10,50,100,200,500
  carom bench --scene thermal
  carom bench --scene thermal --at-rest
  carom bench --input grains.csv --dt 1e-4 --check
Standard output of these, put in a file, is what the plots of carom-peers are drawn from.";

/// What one `--scene` name stands for.
type Scenes = Vec<Scene>;

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Where {
    /// A hardware GPU where there is one, else the CPU.
    Auto,
    /// A GPU, or a software adapter.
    Gpu,
    /// The CPU.
    Cpu,
}

/// A scene of one size, made with some parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) scene: Scene,
    pub(crate) n: usize,
    pub(crate) parameters: Parameters,
}

impl Args {
    /// Leaves with exit code 2 and a message if the arguments do not go together.
    pub(crate) fn check(&self) {
        if let Err(what) = self.cases() {
            exit_with_usage_error("bench", what);
        }
        if self.input().is_none() && self.reading.is_given() {
            let what = "`--format` and the radii are for a file: name one with `--input`";
            exit_with_usage_error("bench", what.to_owned());
        }
    }

    /// The file to time, if it is one.
    pub(crate) fn input(&self) -> Option<Input> {
        let input = self.input.as_ref().map(|path| self.reading.input(path));
        input
            .transpose()
            .unwrap_or_else(|what| exit_with_usage_error("bench", what))
    }

    pub(crate) fn read_options(&self) -> ReadOptions {
        self.reading.options(false, false)
    }

    pub(crate) fn dt(&self) -> f32 {
        self.dt.unwrap_or(1.0)
    }

    pub(crate) fn backend(&self) -> Backend {
        match self.backend {
            Where::Auto => Backend::Auto,
            Where::Gpu => Backend::Gpu,
            Where::Cpu => Backend::Cpu,
        }
    }

    /// Every scene asked for, in every size and with all parameters; or why there is none such.
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
                    "the scene `{scene}` has no {name} to choose: leave out --{name}, or name other \
                     scenes with --scene"
                ));
            }
            let own = scene.parameters();
            for &n in &self.n {
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

/// What was asked for, or else the scene's own.
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

/// A number of spheres, up to the library's limit.
fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n <= 1 << 30 => Ok(n),
        _ => Err("the number of spheres must be a whole number from 0 to 2^30".into()),
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
        _ => Err("a length must be a number from 0 to 1e9, of diameters".into()),
    }
}

/// In bytes a second.
fn bandwidth(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && (x * 1e9).is_finite() => Ok(x * 1e9),
        _ => Err("a bandwidth must be a number above 0, of GB/s".into()),
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
    fn without_options_scenes_are_those_published() -> Result<(), String> {
        let cases = cases("")?;
        assert_eq!(cases.len(), Scene::ALL.len());
        for (case, scene) in cases.into_iter().zip(Scene::ALL) {
            assert_eq!((case.scene, case.n), (scene, 100_000));
            assert_eq!(case.parameters, scene.parameters());
        }
        Ok(())
    }

    #[test]
    fn lists_are_taken_in_all_combinations() -> Result<(), String> {
        let made =
            cases("--scene polydisperse,thermal --n 10,20 --ratio 1,10,100 --density 0.1,0.2")?;
        assert_eq!(made.len(), 2 * 2 * 3 * 2);
        let far = cases("--scene fast --bullets 0,500")?;
        assert_eq!(far.last().map(|case| case.parameters.bullets), Some(500.0));
        Ok(())
    }

    #[test]
    fn what_a_scene_does_not_have_is_an_error_that_names_both() {
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
    fn values_that_make_no_world_are_refused() {
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
            "--input spheres.csv --dt 1 --n 10",
        ] {
            assert!(cases(wrong).is_err(), "{wrong}");
        }
    }
}
