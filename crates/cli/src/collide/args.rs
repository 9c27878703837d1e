//! The command line.

use std::path::{Path, PathBuf};

use carom::Backend;
use carom_cli::read::{Format, Frames, Input, ReadOptions};
use carom_cli::write::{Order, Target};
use clap::ValueEnum;
use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::exit_with_usage_error;
use crate::read_args::{ReadArgs, is_array, time_step};

/// Finds every pair of moving spheres that touch during a time step, and when.
///
/// Spheres move with constant velocity during the step. Touching counts. Numbers
/// are rounded once to the nearest float32, and the pairs are those of these
/// values.
#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Args {
    /// File with the spheres: CSV, LAMMPS dump or NumPy arrays; - for standard input
    ///
    /// CSV (*.csv): the header names the columns, in any order: x, y, z, radius or diameter, and if
    /// the spheres move vx, vy, vz. Others are ignored.
    ///
    /// LAMMPS text dump (*.lammpstrj, *.dump, dump.*): columns x y z (or scaled or unwrapped
    /// coordinates: xs, xu, xsu), radius or diameter, and vx vy vz.
    ///
    /// NumPy array (*.npy) of float32 or float64: N rows x y z radius vx vy vz, or x y z radius for
    /// spheres at rest. Named arrays (*.npz): position (N, 3), radius (N,) and velocity (N, 3).
    ///
    /// A velocity that is missing is 0. A radius that is missing is given by --radius or
    /// --radius-by-type. Files may be packed with gzip, with .gz after their names (.npz is packed
    /// already). Standard input is CSV unless --format says otherwise.
    #[arg(value_name = "INPUT")]
    path: PathBuf,

    /// Length of the time step, in the input's unit of time
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = time_step)]
    pub(crate) dt: f32,

    #[command(flatten)]
    reading: ReadArgs,

    /// Which frames of a LAMMPS dump: one by its number, `last`, `all`, or a range START:END
    ///
    /// Frames are numbered from 0 in the order of the file, whatever their timesteps; negative
    /// numbers count from the end. Ranges are Python's: START:END leaves out END, START:END:STEP
    /// goes from frame to frame by STEP, and what is left out means the first or the last. With a range or
    /// `all`, each frame is reported by itself, and the list of --output has a column `frame`
    /// before the others.
    #[arg(
        long,
        visible_alias = "frames",
        value_name = "K",
        default_value = "last",
        allow_hyphen_values = true,
        help_heading = "Reading"
    )]
    pub(crate) frame: Frames,

    /// Report spheres by the column id of the file, instead of their rows
    ///
    /// LAMMPS may write its atoms in another order in each frame, so that only ids tell them apart.
    /// Of each pair the smaller id is `a`. An id that two spheres have is an error. For CSV and
    /// LAMMPS dumps.
    #[arg(long, help_heading = "Reading")]
    pub(crate) ids: bool,

    /// Carry the column type of the file into the list, as columns `type_a` and `type_b`
    ///
    /// Types are whole numbers. For CSV and LAMMPS dumps.
    #[arg(long, help_heading = "Reading")]
    pub(crate) types: bool,

    /// Where to do the work
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) backend: Where,

    /// Write all pairs to this file: a,b,toi,depth as CSV (*.csv) or NumPy arrays (*.npy, *.npz)
    ///
    /// `a` and `b` are rows of the input, from 0 for the first sphere; `toi` is the time of impact; `depth` is how deep
    /// the two overlap at the start. Numbers read back the same. .npy is one array of records, .npz
    /// an array for each column. The file appears whole or not at all. With - the list goes to
    /// standard output as CSV, frame by frame, and the summary to standard error. Without this
    /// option the first ten pairs are printed.
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(Target::from_path))]
    pub(crate) output: Option<Target>,

    /// Order of the pairs: by a and b, or by time of impact (then a and b)
    #[arg(long, value_enum, default_value = "pair")]
    pub(crate) sort: Sort,

    /// Draw the spheres and the pairs of one frame into this picture
    ///
    /// The spheres at the start of the step, seen along z, or along y or x where
    /// the world is less than half as thick, to scale; their colours tell how many
    /// others each touches then, lines between centres which pairs touch then (black)
    /// and which meet later (orange). The file appears whole or not at all.
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
  carom collide grains.csv --dt 0.001
  carom collide pour.lammpstrj --dt 1e-4 --output pairs.csv
  carom collide dump.melt --dt 0.005 --radius-by-type 1=0.5,2=0.8 --types
  carom collide run.dump.gz --dt 1e-4 --frames 100:200 --ids --output pairs.npz
  cat dump.melt.* | carom collide - --format lammps --frames all --ids --dt 0.005
  generate | carom collide - --dt 1 --sort time --output - | less
  carom collide grains.csv --dt 0.001 --backend gpu --verify
  carom collide grains.csv --dt 0.001 --plot grains.png

Periodic boundaries are not wrapped: pairs across them are not looked for.

Numbers are rounded once to the nearest float32, which has about 7 digits. The pairs are exact for the
rounded numbers. A pair that the first, fast test cannot decide is counted as grazing.

Exit codes:
  0  done, and with --verify checked
  1  bad input (the message names file, line and field), or a failed check
  2  wrong usage";

impl Args {
    /// Leaves with exit code 2 and a message if the arguments do not go together.
    pub(crate) fn check(&self) {
        if let Err(what) = self.conflict() {
            exit_with_usage_error("collide", what);
        }
    }

    /// The input, whose name has been checked.
    pub(crate) fn input(&self) -> Input {
        self.reading
            .input(&self.path)
            .unwrap_or_else(|what| exit_with_usage_error("collide", what))
    }

    pub(crate) fn read_options(&self) -> ReadOptions {
        self.reading.options(self.ids, self.types)
    }

    /// Why these arguments do not go together, if they do not.
    fn conflict(&self) -> Result<(), String> {
        let input = self.reading.input(&self.path)?;
        let list = self.output.as_ref().and_then(Target::path);
        for (option, file) in [("--output", list), ("--plot", self.plot.as_deref())] {
            // On Unix this leads to the file that standard input was redirected from.
            let path = input.path.as_deref().unwrap_or(Path::new("/dev/stdin"));
            if let Some(file) = file
                && same_file(path, file)
            {
                return Err(format!(
                    "`{option} {}` would overwrite the input",
                    file.display()
                ));
            }
        }
        if self.frame.are_several() && self.plot.is_some() {
            return Err("`--plot` draws one frame; choose it with `--frame K`".into());
        }
        if self.frame != Frames::LAST && input.format != Format::Lammps {
            return Err("`--frame` is for LAMMPS dumps: other files have no frames".into());
        }
        for (option, asked, column) in [("--ids", self.ids, "id"), ("--types", self.types, "type")]
        {
            if asked && is_array(&input) {
                return Err(format!(
                    "`{option}` is for files with a column {column}; arrays have none"
                ));
            }
        }
        if self.json && matches!(self.output, Some(Target::StandardOutput)) {
            return Err("`--json` and `--output -` both go to standard output".into());
        }
        Ok(())
    }
}

/// The values of `--sort`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Sort {
    /// By a, then b
    Pair,
    /// By the time of impact, then a, then b
    Time,
}

impl From<Sort> for Order {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Pair => Self::Pair,
            Sort::Time => Self::Time,
        }
    }
}

/// The values of `--backend`.
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
    if path
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("png"))
    {
        Ok(path)
    } else {
        Err("the name must end in .png")
    }
}

/// Whether two names lead to the same file that exists.
fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
