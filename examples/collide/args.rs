//! The command line.

use std::path::{Path, PathBuf};

use carom::Backend;
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{CommandFactory, Parser, ValueEnum, error::ErrorKind};

use crate::input::{Format, Input, Pick, extension, time_step};
use crate::list::ListFile;

/// Finds every pair of moving spheres that touch during a time step, and when.
///
/// Spheres move with constant velocity during the step. Touching counts. Numbers
/// are rounded once to the nearest float32, and the pairs are those of these
/// values.
#[derive(Debug, Parser)]
#[command(name = "collide", version, after_long_help = AFTER_HELP, max_term_width = 100)]
pub(crate) struct Args {
    /// CSV (`.csv`, or `-` for standard input), LAMMPS dump (`.lammpstrj`, `.dump`) or NumPy
    /// arrays (`.npy`, `.npz`)
    ///
    /// CSV: the header names the columns, in any order: x, y, z, radius, and if
    /// they move vx, vy, vz. Others are ignored. `-` is CSV on standard input.
    ///
    /// LAMMPS text dump: columns x y z (or scaled or unwrapped coordinates: xs, xu, xsu), radius or
    /// diameter, and vx vy vz.
    ///
    /// .npy: an array of N rows, float32 or float64, with 7 columns x y z radius vx vy vz, or 4 for
    /// spheres at rest. .npz: arrays position (N, 3), radius (N,) and velocity (N, 3).
    ///
    /// A velocity that is missing is 0. Files may be packed with gzip, with .gz after their names
    /// (.npz is packed already).
    #[arg(value_name = "INPUT", value_parser = PathBufValueParser::new().try_map(Input::from_path))]
    pub(crate) input: Input,

    /// Length of the time step, in the input's unit of time
    #[arg(long, value_name = "T", default_value = "1", allow_negative_numbers = true, value_parser = time_step)]
    pub(crate) dt: f32,

    /// Which frame of a LAMMPS dump: a number from 0, `last` or `all`
    ///
    /// With `all`, each frame is reported by itself, and the list of `--output` has a column
    /// `frame` before the others.
    #[arg(long, visible_alias = "frames", value_name = "K", default_value = "last", value_parser = Pick::parse)]
    pub(crate) frame: Pick,

    /// Report spheres by the column id of the file, instead of their rows
    ///
    /// Of each pair the smaller id is `a`. An id that two spheres have is an error.
    #[arg(long)]
    pub(crate) ids: bool,

    /// Where to do the work
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) backend: Where,

    /// Write all pairs to this file: a,b,toi,depth, as CSV (`.csv`) or a NumPy array (`.npy`)
    ///
    /// `a` and `b` are rows of the input, from 0; `toi` is the time of impact;
    /// `depth` is how deep the two overlap at the start. Numbers read back the
    /// same. The file appears whole or not at all. Without this option the first
    /// ten pairs are printed.
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(ListFile::from_path))]
    pub(crate) output: Option<ListFile>,

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

    /// Print one JSON object (a line for each frame) instead of the summary
    ///
    /// Keys: frame and timestep (of a LAMMPS dump), spheres, pairs, grazing,
    /// `grazing_by_integers`, candidates, proxies, levels, backend, adapter (null on
    /// the CPU), reason, seconds (of the detection, without reading and starting the
    /// device), stages (a list of name and seconds), and with --verify also verify.
    #[arg(long)]
    pub(crate) json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  collide grains.csv
  collide pour.lammpstrj --dt 1e-4 --output pairs.csv
  collide run.dump.gz --frame all --ids --output pairs.npy
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
        if let Some(message) = args.conflict() {
            Self::command()
                .error(ErrorKind::ArgumentConflict, message)
                .exit();
        }
        args
    }
}

impl Args {
    /// Why these arguments do not go together, if they do not.
    fn conflict(&self) -> Option<String> {
        let list = self.output.as_ref().map(|list| &list.path);
        for (option, file) in [("--output", list), ("--plot", self.plot.as_ref())] {
            if let (Some(path), Some(file)) = (&self.input.path, file)
                && same_file(path, file)
            {
                return Some(format!(
                    "`{option} {}` would overwrite the input",
                    file.display()
                ));
            }
        }
        if matches!(self.frame, Pick::All) && self.plot.is_some() {
            return Some("`--plot` draws one frame; choose it with `--frame K`".into());
        }
        if !matches!(self.frame, Pick::Last) && self.input.format != Format::Lammps {
            return Some("`--frame` is for LAMMPS dumps: other files have no frames".into());
        }
        if self.ids && matches!(self.input.format, Format::Npy | Format::Npz) {
            return Some("`--ids` is for files with a column id; arrays have none".into());
        }
        None
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

fn png_path(path: PathBuf) -> Result<PathBuf, &'static str> {
    if extension(&path) == "png" {
        Ok(path)
    } else {
        Err("the name must end in .png")
    }
}

/// Whether two names lead to the same file that exists.
fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
