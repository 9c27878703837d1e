//! The command line of `carom neighbors`.

use std::path::PathBuf;

use carom_formats::read::{self, Input, ReadOptions};
use carom_formats::write::Target;
use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::read_args::{Format, inputs};
use crate::world_args::{Where, WorldArgs, keep_files};

/// The arguments of `carom neighbors`. The description of the subcommand is in `main.rs`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Args {
    /// File with the particles, or several files: CSV, LAMMPS dump, XYZ or NumPy arrays; - for standard input
    ///
    /// The formats are those of `carom collide`, but only the coordinates of the centres are read. In a NumPy
    /// array (*.npy), the coordinates are the first three columns. In a NumPy archive (*.npz), the
    /// coordinates are the array named `position`.
    #[arg(value_name = "INPUT", required = true)]
    paths: Vec<PathBuf>,

    /// Largest distance of two neighbours, in the input's unit of length
    #[arg(long, value_name = "R", allow_hyphen_values = true, value_parser = cutoff)]
    pub(crate) cutoff: f64,

    /// List each pair twice: once as i,j and once as j,i
    #[arg(long)]
    pub(crate) full: bool,

    /// Format of the input, if neither its contents nor its name tells it
    #[arg(long, value_enum, help_heading = "Reading")]
    format: Option<Format>,

    /// Options of `carom collide` that have no meaning here
    #[arg(long, aliases = ["radius-by-type", "dt"], hide = true, allow_hyphen_values = true)]
    radius: Option<String>,

    #[command(flatten)]
    pub(crate) world: WorldArgs,

    /// Processor to run on
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) backend: Where,

    /// Write all pairs to this file: i,j,n1,n2,n3,dx,dy,dz,d as CSV (*.csv) or NumPy (*.npy, *.npz)
    ///
    /// `i` and `j` are rows of the input, counted from 0. Particle i is a neighbour of the periodic image of
    /// particle j that is displaced by n1, n2 and n3 edges of the box. dx, dy and dz are the vector from i to
    /// this image, and d is the length of the vector. Numbers have enough digits to read back unchanged. The
    /// list is sorted by i, j and the image. The output file appears only when it is complete. If the file is
    /// named `-`, the list goes to standard output as CSV, and the summary goes to standard error. Without
    /// the option --output, the first ten entries of the list are printed.
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(Target::from_path))]
    pub(crate) output: Option<Target>,
}

const AFTER_HELP: &str = "\
Examples:
  carom neighbors melt.xyz --cutoff 3.5 --output neighbors.npz
  carom neighbors dump.melt --cutoff 2.5 --full --ids --output - | less
  carom neighbors points.npy --cutoff 1 --box \"0 0 0 10 10 10\" --periodic abc

In a half list, which is the default, i is less than j. A particle can be a neighbour of its own
images in a small box: then i = j, and the first of n1, n2 and n3 that is not 0 is positive.

Exit codes:
  0  success
  1  invalid input (the message names the file, line and field) or another error
  2  wrong usage";

impl Args {
    /// Ends the process with a message and exit code 2 if the arguments contradict each other.
    pub(crate) fn input(&self) -> Input {
        inputs(&self.paths, self.format)
    }

    pub(crate) fn read_options(&self) -> ReadOptions {
        self.world.options(ReadOptions {
            centers_only: true,
            ..ReadOptions::default()
        })
    }

    /// Fails if arguments contradict each other.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.radius.is_some() {
            return Err(
                "`carom neighbors` reads the centres only, without radii and motion: leave out `--radius`, \
                 `--radius-by-type` and `--dt`; `--cutoff` is the largest distance of two centres"
                    .into(),
            );
        }
        let input = self.input();
        let list = self.output.as_ref().and_then(Target::path);
        keep_files(&input, &[], &[("--output", list)])?;
        self.world.conflict(&input)
    }
}

fn cutoff(text: &str) -> carom_formats::Result<f64> {
    read::magnitude("cutoff", text)
}
