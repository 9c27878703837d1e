//! Opens the input and reads it by its format.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use carom::MAX_MAGNITUDE;
use flate2::bufread::MultiGzDecoder;

use crate::lammps::{Dump, Mark};
use crate::progress::Progress;
use crate::world::World;
use crate::{csv, npy, npz, number};

/// How a gzip file begins.
const GZIP: &[u8] = b"\x1f\x8b";
const BUFFER: usize = 1 << 16;

/// Which frame of a dump to read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pick {
    /// The last one.
    Last,
    /// Each by itself.
    All,
    /// One, counted from 0.
    Number(u64),
}

impl Pick {
    /// From what stands on a command line.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "last" => Ok(Self::Last),
            "all" => Ok(Self::All),
            _ => text
                .parse()
                .map(Self::Number)
                .map_err(|_| "must be a number from 0, last or all"),
        }
    }
}

/// Where the spheres come from, and in which format.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// What it is called in messages.
    pub(crate) name: String,
    /// The file; without it, standard input.
    pub(crate) path: Option<PathBuf>,
    pub(crate) format: Format,
}

/// A format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A header and rows.
    Csv,
    /// A LAMMPS text dump.
    Lammps,
    /// A NumPy array.
    Npy,
    /// Named NumPy arrays.
    Npz,
}

impl Input {
    /// The format goes by the name.
    pub(crate) fn from_path(path: PathBuf) -> Result<Self, String> {
        if path.as_os_str() == "-" {
            let name = "standard input".to_owned();
            return Ok(Self {
                name,
                path: None,
                format: Format::Csv,
            });
        }
        let packed = extension(&path) == "gz";
        let format = match extension(&if packed {
            path.with_extension("")
        } else {
            path.clone()
        })
        .as_str()
        {
            "csv" => Format::Csv,
            "lammpstrj" | "dump" => Format::Lammps,
            "npy" => Format::Npy,
            "npz" if !packed => Format::Npz,
            _ => {
                return Err(
                    "the name must end in .csv, .lammpstrj, .dump or .npy, or any of these \
                            and .gz, or in .npz, or be - for CSV on standard input"
                        .into(),
                );
            }
        };
        Ok(Self {
            name: path.display().to_string(),
            path: Some(path),
            format,
        })
    }
}

/// What a name ends in, in small letters.
pub(crate) fn extension(path: &Path) -> String {
    path.extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase()
}

/// The length of a step, as it stands on a command line.
pub(crate) fn time_step(text: &str) -> Result<f32, String> {
    let dt = number::parse(text.as_bytes()).map_err(|what| format!("the time step {what}"))?;
    if (0.0..=MAX_MAGNITUDE).contains(&dt) {
        Ok(dt)
    } else {
        Err(format!("the time step must be from 0 to {MAX_MAGNITUDE:e}"))
    }
}

/// The worlds of an input, one after another.
pub(crate) enum Worlds<'a> {
    /// All that there is, until it is taken.
    One(Option<Box<World>>),
    /// Frames that have not been read yet.
    Frames(Dump<'a, Box<dyn BufRead>>),
}

impl Worlds<'_> {
    /// Reads the next one, if there is one.
    pub(crate) fn next(&mut self) -> anyhow::Result<Option<World>> {
        match self {
            Self::One(world) => Ok(world.take().map(|world| *world)),
            Self::Frames(dump) => dump.read(),
        }
    }
}

/// Opens the input; where it is one world, reads it.
/// With `ids`, also what the file calls each sphere.
pub(crate) fn open<'a>(
    input: &'a Input,
    frame: Pick,
    ids: bool,
    progress: &Progress,
) -> anyhow::Result<Worlds<'a>> {
    let source = input.name.as_str();
    let Some(path) = &input.path else {
        let plain = unpacked(source, Box::new(io::stdin().lock()))?;
        return Ok(one(csv::read(source, plain, ids)?));
    };
    let open = |what, begin| text(source, file(path)?, begin, progress, what);
    let world = match (input.format, frame) {
        (Format::Csv, _) => csv::read(source, open("reading", 0)?, ids)?,
        (Format::Npy, _) => npy::read(source, open("reading", 0)?)?,
        (Format::Npz, _) => npz::read(
            source,
            BufReader::with_capacity(BUFFER, progress.reading(file(path)?, "reading")),
        )?,
        (Format::Lammps, Pick::All) => {
            let dump = Dump::new(source, open("reading", 0)?, Mark::default(), ids);
            return Ok(Worlds::Frames(dump));
        }
        (Format::Lammps, Pick::Number(number)) => {
            Dump::new(source, open("reading", 0)?, Mark::default(), ids).frame(number)?
        }
        (Format::Lammps, Pick::Last) => {
            if !path.metadata().is_ok_and(|metadata| metadata.is_file()) {
                bail!(
                    "{source} is no plain file: it cannot be read twice, as it takes to find the \
                     last frame; choose one with --frame K, or --frame all"
                );
            }
            let looking = open("looking for the last frame", 0)?;
            let mark = Dump::new(source, looking, Mark::default(), false).last()?;
            let dump = Dump::new(source, open("reading", mark.place.byte)?, mark, ids);
            dump.frame(mark.number)?
        }
    };
    Ok(one(world))
}

fn one<'a>(world: World) -> Worlds<'a> {
    Worlds::One(Some(Box::new(world)))
}

/// Opens a file that is one.
fn file(path: &Path) -> anyhow::Result<File> {
    // Opening a directory succeeds on Unix; only reading it would fail.
    if path.is_dir() {
        bail!("{} is a directory, not a file", path.display());
    }
    File::open(path).with_context(|| format!("cannot open {}", path.display()))
}

/// A file's contents, unpacked if need be, from some byte on.
fn text(
    source: &str,
    file: File,
    begin: u64,
    progress: &Progress,
    what: &'static str,
) -> anyhow::Result<Box<dyn BufRead>> {
    let mut input = BufReader::with_capacity(BUFFER, progress.reading(file, what));
    let cannot_read = || format!("cannot read {source}");
    if input
        .fill_buf()
        .with_context(cannot_read)?
        .starts_with(GZIP)
    {
        let mut plain = unpacked(source, Box::new(input))?;
        io::copy(&mut (&mut plain).take(begin), &mut io::sink()).with_context(cannot_read)?;
        return Ok(plain);
    }
    if begin > 0 {
        input
            .seek(SeekFrom::Start(begin))
            .with_context(cannot_read)?;
    }
    Ok(Box::new(input))
}

/// The same, unpacked if it was packed with gzip.
fn unpacked(source: &str, mut input: Box<dyn BufRead>) -> anyhow::Result<Box<dyn BufRead>> {
    let begin = input
        .fill_buf()
        .with_context(|| format!("cannot read {source}"))?;
    if !begin.starts_with(GZIP) {
        return Ok(input);
    }
    Ok(Box::new(BufReader::with_capacity(
        BUFFER,
        MultiGzDecoder::new(input),
    )))
}
