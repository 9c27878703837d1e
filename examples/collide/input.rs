//! Opens the input and reads it by its format.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context, bail};
use flate2::bufread::MultiGzDecoder;

use crate::args::{Args, Format, Pick};
use crate::lammps::{Dump, Mark};
use crate::progress::Progress;
use crate::world::World;
use crate::{csv, npy, npz};

/// How a gzip file begins.
const GZIP: &[u8] = b"\x1f\x8b";
const BUFFER: usize = 1 << 16;

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
pub(crate) fn open<'a>(args: &'a Args, progress: &Progress) -> anyhow::Result<Worlds<'a>> {
    let input = &args.input;
    let source = input.name.as_str();
    let Some(path) = &input.path else {
        let plain = unpacked(source, Box::new(io::stdin().lock()))?;
        return Ok(one(csv::read(source, plain, args.ids)?));
    };
    let open = |what, begin| text(source, file(path)?, begin, progress, what);
    let world = match (input.format, args.frame) {
        (Format::Csv, _) => csv::read(source, open("reading", 0)?, args.ids)?,
        (Format::Npy, _) => npy::read(source, open("reading", 0)?)?,
        (Format::Npz, _) => npz::read(
            source,
            BufReader::with_capacity(BUFFER, progress.reading(file(path)?, "reading")),
        )?,
        (Format::Lammps, Pick::All) => {
            let dump = Dump::new(source, open("reading", 0)?, Mark::default(), args.ids);
            return Ok(Worlds::Frames(dump));
        }
        (Format::Lammps, Pick::Number(number)) => {
            Dump::new(source, open("reading", 0)?, Mark::default(), args.ids).frame(number)?
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
            let dump = Dump::new(source, open("reading", mark.place.byte)?, mark, args.ids);
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
