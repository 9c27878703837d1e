//! Command-line options of `carom collide`, and their checks.

use std::path::PathBuf;

use carom::Wall;
use carom_formats::read::{self, Input, ReadOptions};
use carom_formats::write::{Order, Target};
use clap::ValueEnum;
use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::read_args::{ReadArgs, time_step};
use crate::world_args::{Where, WorldArgs, keep_files};

/// Command-line arguments of `carom collide`. The description of the subcommand is in `main.rs`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Args {
    /// File with the spheres, or several files: CSV, LAMMPS dump, XYZ or NumPy arrays; - for standard input
    ///
    /// CSV (*.csv): a header names the columns, in any order: x, y, z, and radius or diameter; if the spheres
    /// move, also vx, vy, vz. Other columns of a CSV file are ignored.
    ///
    /// LAMMPS text dump (*.lammpstrj, *.dump, dump.*): columns x y z, and radius or diameter; if
    /// the spheres move, also vx vy vz. Coordinates may be unwrapped (xu yu zu), scaled (xs ys zs)
    /// or both (xsu ysu zsu) instead.
    ///
    /// LAMMPS data file: `Atoms # STYLE` says the columns, or --columns names them.
    ///
    /// XYZ or extended XYZ (*.xyz, *.extxyz): columns pos, and radius or diameter; if the spheres move, also
    /// velo, vel, velocity, velocities or momenta. The keys `Lattice`, `Origin` and `pbc` of the comment line give the periodic box.
    ///
    /// NumPy array (*.npy) of float32 or float64: N rows x y z radius vx vy vz, or N rows x y z radius for
    /// spheres at rest. If the option --radius is given, the rows are x y z vx vy vz or x y z.
    ///
    /// NumPy archive (*.npz): arrays named position (N, 3), radius (N,), and velocity (N, 3) if the spheres
    /// move.
    ///
    /// Missing velocities are 0. If the file has no radii, give them with --radius or
    /// --radius-by-type. All formats but .npz may be compressed with gzip, Zstandard, bzip2 or xz. The contents tell the
    /// format and the compression, whatever the name is. Several files are one series, with frames numbered from the
    /// first file to the last.
    #[arg(value_name = "INPUT", required = true)]
    paths: Vec<PathBuf>,

    /// Length of the time step, in the input's unit of time
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = time_step)]
    pub(crate) dt: f64,

    #[command(flatten)]
    reading: ReadArgs,

    /// Take all spheres as at rest: the motion in the file is not read
    #[arg(long, help_heading = "Reading")]
    at_rest: bool,

    #[command(flatten)]
    pub(crate) world: WorldArgs,

    /// Processor (GPU or CPU) that searches for the colliding pairs
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) backend: Where,

    /// Write all pairs to this file: a,b,toi,depth as CSV (*.csv) or NumPy arrays (*.npy, *.npz)
    ///
    /// The columns `a` and `b` are rows of the input, counted from 0. `toi` is the time of impact, 0 for
    /// pairs that touch at the start of the step. `depth` is the penetration depth at the start, 0 for pairs
    /// that meet later. Numbers have enough digits to read back unchanged.
    ///
    /// A .npy file is one array of records, a .npz file has one array for each column. The output file
    /// appears only when it is complete. With `--output -`, the list goes to standard output as CSV, frame by
    /// frame, and the summary goes to standard error. Without the option --output, the first ten pairs are
    /// printed.
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(Target::from_path))]
    pub(crate) output: Option<Target>,

    /// Wall that spheres may touch: "plane NX NY NZ OFFSET", "sphere X Y Z R", "sphere-inside X Y Z R", "cylinder
    /// PX PY PZ AX AY AZ R" or "cylinder-inside PX PY PZ AX AY AZ R"
    ///
    /// A plane bounds a half-space: the free side is where the normal (NX, NY, NZ), of any length, points to, so
    /// its points satisfy NX x + NY y + NZ z >= OFFSET. Spheres touch the walls `sphere` and `cylinder` from
    /// outside, and the walls `sphere-inside` and `cylinder-inside` from inside. A cylinder is infinitely long:
    /// (PX, PY, PZ) is a point on its axis, and (AX, AY, AZ) the direction of its axis.
    ///
    /// The option --wall may be given several times. Walls are numbered from 0: first the walls of --wall, in
    /// the order given, then the triangles of the meshes.
    #[arg(long = "wall", value_name = "SHAPE", allow_hyphen_values = true, value_parser = read::wall_of,
        help_heading = "Walls")]
    pub(crate) simple_walls: Vec<Wall<f64>>,

    /// Triangle mesh that spheres may touch, from an STL or OBJ file; may be given several times
    ///
    /// Spheres touch a triangle from both sides. A sphere that touches a common edge of two triangles touches
    /// both.
    #[arg(long = "mesh", value_name = "FILE.stl|.obj", help_heading = "Walls")]
    pub(crate) meshes: Vec<PathBuf>,

    /// Write all spheres that touch walls to this file: sphere,wall,toi,depth as CSV (*.csv) or NumPy arrays
    /// (*.npy, *.npz)
    ///
    /// The column `sphere` is a row of the input (with --ids, an id), and `wall` is the number of a
    /// wall. `toi` is the time of impact, and `depth` is how far the sphere reaches into the wall
    /// at the start. Without the option --walls-output, the program prints the first ten entries of
    /// this list.
    #[arg(long, value_name = "FILE", help_heading = "Walls",
        value_parser = PathBufValueParser::new().try_map(walls_file))]
    pub(crate) walls_output: Option<Target>,

    /// Order of the pairs: by the numbers of their spheres a and b, or by time of impact (then by a and b)
    #[arg(long, value_enum, default_value = "pair")]
    pub(crate) sort: Sort,

    /// Draw the spheres and the pairs of one frame into this PNG file
    ///
    /// The picture shows the spheres at the start of the step, to scale, seen along z. If the world is less
    /// than half as thick along x or y as along z, it is seen along the thinner of x and y instead. The
    /// colour of a sphere shows how many other spheres it touches at the start.
    ///
    /// In the picture, a line joins the centres of the two spheres of each pair. The line is black
    /// if they touch at the start, and orange if they meet later. Walls are blue. A plane appears
    /// as the line in which it cuts the middle of the world. The PNG file appears only when it is
    /// complete.
    #[arg(long, value_name = "FILE.png", value_parser = PathBufValueParser::new().try_map(png_path))]
    pub(crate) plot: Option<PathBuf>,

    /// Check the lists of pairs and walls by testing every pair of spheres, and every sphere at every wall, in exact
    /// arithmetic
    ///
    /// With more than 20000 spheres, the pairs are not tested one by one. Instead, the backend that did not make the
    /// list (CPU or GPU) makes a second list of pairs, and the two lists are compared bit for bit. The list of walls
    /// can be checked if there are at most 400 million combinations of a sphere with a wall or a triangle. If the
    /// lists differ, or if a check cannot be made, the program reports an error and writes no output file.
    #[arg(long)]
    pub(crate) verify: bool,

    /// Print one JSON object for each frame, on one line, instead of the summary
    ///
    /// The keys of the JSON object are: frame (LAMMPS dumps and XYZ), timestep (LAMMPS dumps), spheres,
    /// periodic (in a periodic box), pairs, walls (number of spheres that touch walls, if there are
    /// walls), grazing (pairs that the fast swept test could not decide),
    /// `grazing_by_integers` (pairs that float64 could not decide), candidates (pairs that were tested),
    /// proxies (grid entries; a fast sphere may have several), levels (number of grids), backend, adapter
    /// (null on the CPU), reason (for the choice of the backend), seconds (time of the search, without
    /// reading the input and starting the device), stages (a list of objects with name and seconds) and, with
    /// --verify, verify (the result of the check).
    #[arg(long)]
    pub(crate) json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  carom collide grains.csv --dt 0.001
  carom collide pour.lammpstrj --dt 1e-4 --output pairs.csv
  carom collide dump.melt --dt 0.005 --radius-by-type 1=0.5,2=0.8 --types
  carom collide run.dump.gz --dt 1e-4 --frames 100:200 --ids --output pairs.npz
  carom collide dump.melt.* --frames all --ids --dt 0.005
  generate | carom collide - --dt 1 --sort time --output - | less
  carom collide grains.csv --dt 0.001 --backend gpu --verify
  carom collide grains.csv --dt 0.001 --plot grains.png
  carom collide grains.csv --dt 0.001 --wall \"plane 0 0 1 0\" --mesh funnel.stl --walls-output hits.csv
  carom collide fluid.csv --dt 0.01 --box \"0 0 0 10 10 10\" --periodic abc

In a periodic box, the list has the columns n1, n2 and n3 after depth: sphere a touches the image of
sphere b that is displaced by n1, n2 and n3 edges. The columns of --types then come last.

Numbers are rounded once to the nearest float64, and the pairs are exact for these numbers. Arrays of
float32 stay float32, and the walls are then rounded to float32, too. The summary counts as grazing the pairs that the fast swept test
could not decide. An exact test decided these pairs.

Exit codes:
  0  success; with --verify, the list has passed the check
  1  invalid input (the message names the file, line and field), a failed check, or another error
  2  wrong usage";

impl Args {
    pub(crate) fn input(&self) -> anyhow::Result<Input> {
        self.reading.input(&self.paths).map_err(anyhow::Error::msg)
    }

    pub(crate) fn read_options(&self) -> ReadOptions {
        self.world.options(ReadOptions {
            at_rest: self.at_rest,
            ..self.reading.options()
        })
    }

    pub(crate) fn has_walls(&self) -> bool {
        !self.simple_walls.is_empty() || !self.meshes.is_empty()
    }

    /// Fails if arguments contradict each other.
    pub(crate) fn check(&self) -> Result<(), String> {
        let input = self.reading.input(&self.paths)?;
        let list = self.output.as_ref().and_then(Target::path);
        keep_files(
            &input,
            &self.meshes,
            &[
                ("--output", list),
                (
                    "--walls-output",
                    self.walls_output.as_ref().and_then(Target::path),
                ),
                ("--plot", self.plot.as_deref()),
            ],
        )?;
        if self.walls_output.is_some() && !self.has_walls() {
            return Err(
                "`--walls-output` needs walls: add `--wall` or `--mesh`, or leave it out".into(),
            );
        }
        if self.world.frame.are_several() && self.plot.is_some() {
            return Err("`--plot` draws one frame; choose it with `--frame K`".into());
        }
        self.world.conflict(&input)?;
        if self.json && matches!(self.output, Some(Target::StandardOutput)) {
            return Err(
                "`--json` and `--output -` both write to standard output: leave out one of them"
                    .into(),
            );
        }
        Ok(())
    }
}

/// Values of the option `--sort`: orders of the list of pairs.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Sort {
    /// Sort the pairs by their first sphere a, then by their second sphere b
    Pair,
    /// Sort the pairs by time of impact, then by a, then by b
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

fn walls_file(path: PathBuf) -> Result<Target, &'static str> {
    match Target::from_path(path) {
        Ok(Target::File(path, format)) => Ok(Target::File(path, format)),
        _ => Err("the name must end in .csv, .npy or .npz"),
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
