//! The command-line options that `carom collide` and `carom neighbors` have in common: frames, names
//! of spheres, and the domain.

use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use carom::{Backend, Domain};
use carom_formats::read::{self, ColumnNames, Frames, Input, ReadOptions, Separator};
use carom_formats::write::is_same_file;
use clap::ValueEnum;

use super::read_args::is_archive;

/// Command-line options about the input: the frames of a trajectory file to read, the columns with
/// the ids and types of the spheres, and the domain (the periodic box).
#[derive(Debug, clap::Args)]
pub(crate) struct WorldArgs {
    /// Frames of a LAMMPS dump or XYZ file to read: a number, `last`, `all`, or a range START:END
    ///
    /// Frames are numbered from 0 in the order of the file, independent of their timesteps. Negative numbers
    /// count from the end. Ranges of frames work as in Python: START:END leaves out END, START:END:STEP
    /// goes on in steps of STEP, and an omitted START or END means the beginning or the end of the file. With a
    /// range or `all`, each frame is searched and printed separately, and the list that --output writes has a
    /// first column `frame`.
    #[arg(
        long,
        visible_alias = "frames",
        value_name = "K",
        default_value = "last",
        allow_hyphen_values = true,
        help_heading = "Reading"
    )]
    pub(crate) frame: Frames,

    /// Identify spheres by the column named `id` in the file instead of their row numbers
    ///
    /// LAMMPS may write its atoms in a different order in each frame, so only an id identifies a sphere in
    /// several frames. In the list of pairs, the first id of a pair is the smaller one (except in a full
    /// neighbour list). Two spheres with the same id are an error. The option --ids is not for .npz archives.
    #[arg(long, help_heading = "Reading")]
    pub(crate) ids: bool,

    /// Copy the column named `type` from the file to the list of pairs, as columns `type_a` and `type_b` (or
    /// `type_i` and `type_j` in lists of neighbours)
    ///
    /// Without a column `type`, the types are those in the column `element` or `species`. They are whole numbers from 0
    /// to 2147483647, or names of at most 16 bytes. The option --types is not for .npz
    /// archives.
    #[arg(long, help_heading = "Reading")]
    pub(crate) types: bool,

    /// Names of columns of a CSV file, dump, XYZ file or structured NumPy array: `x=Points:0,vx=5`, or `x,y,z,radius` for all in their order
    ///
    /// NAME=COLUMN gives a name to a column, which has another name in the file, or its number from 1. A list of names
    /// without `=` names all columns of a file without a header, or of a dump whose ITEM: ATOMS names none; `_` is a
    /// column that is not read. The names are x, y, z, radius, diameter, vx, vy, vz, id, type, element, species and
    /// mass, and in dumps also xu, xs, xsu and so on.
    #[arg(long, value_name = "NAME=COLUMN,...", help_heading = "Reading")]
    columns: Option<ColumnNames>,

    /// What separates the columns of a CSV file
    #[arg(long, value_enum, default_value = "comma", help_heading = "Reading")]
    separator: Separated,

    /// Ignore the periodic box of the file: all its boundaries are open
    ///
    /// Without the option --open, the simulation box is the box of the LAMMPS dump or extended XYZ file. The
    /// file says which boundaries of the box are periodic. All other boundaries are open.
    #[arg(long, help_heading = "Domain")]
    pub(crate) open: bool,

    /// Edges of the box along which the world is periodic: any of the letters a, b and c
    ///
    /// In a rectangular box, the edges a, b and c are along x, y and z. The option --periodic replaces the
    /// boundary conditions that the file states. Two-dimensional worlds are periodic along ab at most unless this
    /// option says otherwise.
    #[arg(long, value_name = "abc", value_parser = edges, help_heading = "Domain")]
    periodic: Option<[bool; 3]>,

    /// Simulation box of a file without a box: "x y z lx ly lz", "x y z a b c alpha beta gamma", or "x y z" and the three
    /// edges as vectors
    ///
    /// The first three numbers are a corner of the box. If three more numbers follow, they are the lengths of
    /// the edges along x, y and z. If six more numbers follow, they are the lengths of the edges and the angles between
    /// them in degrees; edge a is along x, and edge b in the plane of x and y. If nine more numbers follow, they are the edge vectors a, b and c. The
    /// option --periodic says along which edges the world is periodic. With --open, the option --box replaces
    /// the box of the file.
    #[arg(long = "box", value_name = "NUMBERS", allow_hyphen_values = true, value_parser = box_of,
        requires = "periodic", help_heading = "Domain")]
    given: Option<Domain>,
}

impl WorldArgs {
    /// Adds the options about frames and the box to the options of a reader.
    pub(crate) fn options(&self, options: ReadOptions) -> ReadOptions {
        ReadOptions {
            ids: self.ids,
            types: self.types,
            columns: self.columns.clone(),
            separator: Some(self.separator.into()),
            open: self.open,
            cell: self.given,
            periodic: self.periodic,
            ..options
        }
    }

    /// Returns an error message if the options contradict each other or do not fit the input.
    pub(crate) fn conflict(&self, input: &Input) -> Result<(), String> {
        if self.frame != Frames::LAST && !input.has_frames() {
            return Err(
                "`--frame` is for LAMMPS dumps and XYZ only: other files have no frames".into(),
            );
        }
        for (option, asked, column) in [("--ids", self.ids, "id"), ("--types", self.types, "type")]
        {
            if asked && is_archive(input) {
                return Err(format!(
                    "`{option}` needs a column {column}, which .npz archives lack: leave out `{option}`"
                ));
            }
        }
        if self.columns.is_some() && is_archive(input) {
            return Err(
                "`--columns` is not for .npz archives: their arrays have fixed names".into(),
            );
        }
        if self.open && self.periodic.is_some() && self.given.is_none() {
            return Err(
                "`--open` ignores the box of the file, so `--periodic` has no box: add `--box`, or \
                 leave out one of them"
                    .into(),
            );
        }
        Ok(())
    }
}

/// Returns a domain with its numbers rounded to the nearest float32, for spheres in float32.
pub(crate) fn in_float32(domain: &Domain) -> Domain {
    let narrow = |x: [f64; 3]| x.map(single);
    Domain::triclinic(narrow(domain.origin()), domain.edges().map(narrow))
        .with_periodic(domain.periodic())
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
pub(crate) fn single(x: f64) -> f32 {
    x as f32
}

/// Values of the option `--separator`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Separated {
    /// Commas
    Comma,
    /// Semicolons
    Semicolon,
    /// Tabulators
    Tab,
    /// Any number of spaces or tabulators
    Space,
}

impl From<Separated> for Separator {
    fn from(given: Separated) -> Self {
        match given {
            Separated::Comma => Self::Comma,
            Separated::Semicolon => Self::Semicolon,
            Separated::Tab => Self::Tab,
            Separated::Space => Self::Space,
        }
    }
}

/// Values of the option `--backend`: the processor that searches for pairs.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Where {
    /// Run on a hardware GPU if there is one, otherwise on the CPU
    Auto,
    /// Run on a GPU or a software adapter (a GPU emulated on the CPU); an error if there is neither
    Gpu,
    /// Run on the CPU
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

/// Parses the value of `--periodic`: the letters of the box edges along which the world is periodic.
fn edges(text: &str) -> Result<[bool; 3], String> {
    let mut periodic = [false; 3];
    for letter in text.chars() {
        match "abc".find(letter) {
            Some(k) if !periodic[k] => periodic[k] = true,
            _ => {
                return Err(format!(
                    "`{text}` must be some of the letters a, b and c, each at most once"
                ));
            }
        }
    }
    Ok(periodic)
}

fn box_of(text: &str) -> carom_formats::Result<Domain> {
    read::box_of(text)
}

/// Returns an error message if an output file is an input, or the same file as another output. `inputs` are the files
/// that are read besides `input`. `outputs` has the option and the path of each output file.
pub(crate) fn keep_files(
    input: &Input,
    inputs: &[PathBuf],
    outputs: &[(&str, Option<&Path>)],
) -> Result<(), String> {
    // On Unix, `/dev/stdin` resolves to the file from which standard input is redirected.
    let mut paths = input.paths();
    if paths.is_empty() {
        paths.push(Path::new("/dev/stdin"));
    }
    paths.extend(inputs.iter().map(PathBuf::as_path));
    let outputs: Vec<_> = outputs
        .iter()
        .filter_map(|&(option, file)| Some((option, file?)))
        .collect();
    for (k, &(option, file)) in outputs.iter().enumerate() {
        let shown = file.display().to_string();
        let shown = shown.replace(char::is_control, "\u{fffd}");
        let named = format!("`{option} {shown}`");
        if paths.iter().any(|path| is_same_file(path, file)) {
            return Err(format!(
                "{named} would overwrite the input; choose another file"
            ));
        }
        // Devices and pipes are refused when they are opened.
        if file.is_file() && is_same_file(Path::new("/dev/stdout"), file) {
            return Err(format!(
                "{named} would overwrite what goes to standard output; choose another file"
            ));
        }
        if let Some((other, _)) = outputs[..k]
            .iter()
            .find(|(_, path)| is_same_file(path, file))
        {
            return Err(format!(
                "{named} would overwrite the file of `{other}`; choose another file"
            ));
        }
    }
    Ok(())
}

/// The most threads of the CPU backend: 1024, or as many as the machine has cores if that is more.
pub(crate) fn most_threads() -> usize {
    const MOST: usize = 1024;
    available_parallelism().map_or(MOST, |cores| cores.get().max(MOST))
}
