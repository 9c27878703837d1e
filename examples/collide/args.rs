//! The command line.

use std::path::{Path, PathBuf};

use carom::{Backend, MAX_MAGNITUDE};
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{CommandFactory, Parser, ValueEnum, error::ErrorKind};

use crate::number;

/// Finds every pair of moving spheres that touch during a time step, and when.
///
/// Spheres move with constant velocity during the step. Touching counts. Numbers
/// are rounded once to the nearest float32, and the pairs are those of these
/// values.
#[derive(Debug, Parser)]
#[command(name = "collide", version, after_long_help = AFTER_HELP, max_term_width = 100)]
pub(crate) struct Args {
    /// CSV (`.csv`, or `-` for standard input) or LAMMPS dump (`.lammpstrj`, `.dump`)
    ///
    /// CSV: the header names the columns, in any order: x, y, z, radius, and if
    /// they move vx, vy, vz. Others are ignored. `-` is CSV on standard input.
    ///
    /// LAMMPS text dump: the last frame is taken, with its columns x y z, radius
    /// or diameter, and vx vy vz.
    ///
    /// A velocity column that is missing is 0.
    #[arg(value_name = "INPUT", value_parser = PathBufValueParser::new().try_map(Input::from_path))]
    pub(crate) input: Input,

    /// Length of the time step, in the input's unit of time
    #[arg(long, value_name = "T", default_value = "1", allow_negative_numbers = true, value_parser = time_step)]
    pub(crate) dt: f32,

    /// Where to do the work
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) backend: Where,

    /// Write all pairs to this CSV file (header a,b,toi,depth)
    ///
    /// `a` and `b` are rows of the input, from 0; `toi` is the time of impact;
    /// `depth` is how deep the two overlap at the start. Numbers read back the
    /// same. The file appears whole or not at all. Without this option the first
    /// ten pairs are printed.
    #[arg(long, value_name = "FILE.csv", value_parser = PathBufValueParser::new().try_map(csv_path))]
    pub(crate) output: Option<PathBuf>,

    /// Draw the spheres and the pairs into this picture
    ///
    /// The spheres at the start of the step, seen along z, or along y or x where
    /// the world is less than half as thick, to scale; their colours tell how many
    /// contacts each has, lines between centres which pairs touch at the start and
    /// which meet later. The file appears whole or not at all.
    #[arg(long, value_name = "FILE.png", value_parser = PathBufValueParser::new().try_map(png_path))]
    pub(crate) plot: Option<PathBuf>,

    /// Check the pairs: every pair of spheres is tried in exact arithmetic
    ///
    /// With more than 20000 spheres the other backend does the same work
    /// instead, and every pair is compared, bit for bit. A difference, and a
    /// check that cannot be made, is an error; no output file is written then.
    #[arg(long)]
    pub(crate) verify: bool,

    /// Print one JSON object instead of the summary
    ///
    /// Keys: spheres, pairs, grazing, `grazing_by_integers`, candidates, proxies,
    /// levels, backend, adapter (null on the CPU), reason, seconds (of the
    /// detection, without reading and starting the device), stages (a list of
    /// name and seconds), and with --verify also verify.
    #[arg(long)]
    pub(crate) json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  collide grains.csv
  collide pour.lammpstrj --dt 1e-4 --output pairs.csv
  generate | collide - --json
  collide grains.csv --backend gpu --verify
  collide grains.csv --plot grains.png

Periodic boundaries are not wrapped: pairs across them are not looked for.

Exit codes:
  0  done, and with --verify checked
  1  bad input (the message names file, line and field), or a failed check
  2  wrong usage";

impl Args {
    /// The arguments of this process. Leaves with exit code 2 and a message if
    /// they are wrong.
    pub(crate) fn parse_and_check() -> Self {
        let args = Self::parse();
        for (option, file) in [("--output", &args.output), ("--plot", &args.plot)] {
            if let (Some(path), Some(file)) = (args.input.path(), file)
                && same_file(path, file)
            {
                let message = format!("`{option} {}` would overwrite the input", file.display());
                Self::command()
                    .error(ErrorKind::ArgumentConflict, message)
                    .exit();
            }
        }
        args
    }
}

/// What `--backend` says.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Where {
    /// A hardware GPU where there is one, else the CPU
    Auto,
    /// A GPU, even a software one; an error without
    Gpu,
    /// The CPU
    Cpu,
}

impl From<Where> for Backend {
    fn from(choice: Where) -> Self {
        match choice {
            Where::Auto => Self::Auto,
            Where::Gpu => Self::Gpu,
            Where::Cpu => Self::Cpu,
        }
    }
}

/// Where the spheres come from, and in which format.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// CSV on standard input.
    Stdin,
    /// A CSV file.
    Csv(PathBuf),
    /// A LAMMPS text dump.
    Lammps(PathBuf),
}

impl Input {
    fn from_path(path: PathBuf) -> Result<Self, String> {
        if path.as_os_str() == "-" {
            return Ok(Self::Stdin);
        }
        match extension(&path).as_str() {
            "csv" => Ok(Self::Csv(path)),
            "lammpstrj" | "dump" => Ok(Self::Lammps(path)),
            _ => Err(
                "the name must end in .csv, .lammpstrj or .dump, or be - for CSV on standard input"
                    .into(),
            ),
        }
    }

    /// The file, if it is one.
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdin => None,
            Self::Csv(path) | Self::Lammps(path) => Some(path),
        }
    }
}

fn extension(path: &Path) -> String {
    path.extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase()
}

fn csv_path(path: PathBuf) -> Result<PathBuf, &'static str> {
    if extension(&path) == "csv" {
        Ok(path)
    } else {
        Err("the name must end in .csv")
    }
}

fn png_path(path: PathBuf) -> Result<PathBuf, &'static str> {
    if extension(&path) == "png" {
        Ok(path)
    } else {
        Err("the name must end in .png")
    }
}

fn time_step(text: &str) -> Result<f32, String> {
    let dt = number::parse(text.as_bytes()).map_err(|what| format!("the time step {what}"))?;
    if (0.0..=MAX_MAGNITUDE).contains(&dt) {
        Ok(dt)
    } else {
        Err(format!("the time step must be from 0 to {MAX_MAGNITUDE:e}"))
    }
}

/// Whether two names lead to the same file that exists.
fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
