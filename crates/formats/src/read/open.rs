//! Opens an input file and reads its spheres.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context, bail};
use flate2::bufread::MultiGzDecoder;

use crate::read::frames::Span;
use crate::read::{Format, Frames, Input, Layout, ReadOptions, Trajectory, World, csv, npy, npz};

const GZIP: &[u8] = b"\x1f\x8b";
const BUFFER: usize = 1 << 16;

/// Receives reports on the progress of reading a file. The implementation for `()` ignores the reports.
pub trait Progress {
    /// Reports that the activity `what`, such as reading a file of `bytes` bytes, begins.
    fn begin(&self, what: &'static str, bytes: Option<u64>) {
        let _ = (what, bytes);
    }

    /// Reports that `bytes` more bytes of a file have been read.
    fn advance(&self, bytes: u64) {
        let _ = bytes;
    }
}

impl Progress for () {}

/// An iterator over the worlds of an input: the spheres of a file, or of each selected frame of a trajectory.
/// The iterator yields an error if a world cannot be read, or if the input has none of the selected frames.
/// The error names the file, the line (or row) and the field.
pub struct Worlds<'a> {
    rest: Rest<'a>,
}

enum Rest<'a> {
    World(Option<Box<World>>),
    Frames {
        trajectory: Box<Trajectory<'a, Box<dyn BufRead + 'a>>>,
        frames: Frames,
        span: Span,
        found: bool,
    },
}

impl Worlds<'_> {
    fn read(&mut self) -> anyhow::Result<Option<World>> {
        match &mut self.rest {
            Rest::World(world) => Ok(world.take().map(|world| *world)),
            Rest::Frames {
                trajectory,
                frames,
                span,
                found,
            } => {
                if span.start < span.end {
                    trajectory.skip_to(span.start)?;
                    if let Some(world) = trajectory.read()? {
                        *found = true;
                        span.start = span.start.saturating_add(span.step);
                        return Ok(Some(world));
                    }
                }
                if *found {
                    Ok(None)
                } else {
                    Err(trajectory.has_none_of(*frames)?)
                }
            }
        }
    }
}

impl Iterator for Worlds<'_> {
    type Item = anyhow::Result<World>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// Opens an input. The returned iterator reads a trajectory one frame at a time. An input that is no trajectory
/// is read at once.
///
/// # Errors
/// Returns an error if the input cannot be opened or read, with the file, and where possible the line (or
/// row) and the field.
pub fn open<'a>(
    input: &'a Input,
    frames: Frames,
    options: &ReadOptions,
    progress: &'a dyn Progress,
) -> anyhow::Result<Worlds<'a>> {
    let source = input.name.as_str();
    let mut file = Source::open(input)?;
    let cannot_read = || format!("cannot read {source}");
    let text = |file: &mut Source| file.text(0, "reading", progress).with_context(cannot_read);
    let world = match input.format {
        Format::Csv => csv::read(source, text(&mut file)?, options)?,
        Format::Npy => npy::read(source, text(&mut file)?, options)?,
        Format::Npz => {
            let bytes = file.seekable("reading", progress);
            npz::read(source, bytes.with_context(cannot_read)?, options)?
        }
        Format::Lammps => {
            return open_frames(Layout::Lammps, source, file, frames, options, progress);
        }
        Format::Xyz => return open_frames(Layout::Xyz, source, file, frames, options, progress),
    };
    Ok(Worlds {
        rest: Rest::World(Some(Box::new(world))),
    })
}

fn open_frames<'a>(
    layout: Layout,
    source: &'a str,
    mut file: Source,
    frames: Frames,
    options: &ReadOptions,
    progress: &'a dyn Progress,
) -> anyhow::Result<Worlds<'a>> {
    let cannot_read = || format!("cannot read {source}");
    let (mut count, mut mark) = (0, None);
    if frames.count_from_the_end() {
        file.keep(progress)?;
        let text = file
            .text(0, "counting the frames", progress)
            .with_context(cannot_read)?;
        let (frames_there, marks) =
            Trajectory::new(layout, source, text, options).count(frames.marks())?;
        count = frames_there;
        let start = frames.resolve(count).map_or(0, |span| span.start);
        mark = marks.into_iter().find(|mark| mark.number == start);
    }
    let begin = mark.map_or(0, |mark| mark.place.byte);
    let text = file
        .text(begin, "reading", progress)
        .with_context(cannot_read)?;
    let mut trajectory = Trajectory::new(layout, source, text, options);
    if let Some(mark) = mark {
        trajectory.start_at(mark);
    }
    let nothing = Span {
        start: 0,
        end: 0,
        step: 1,
    };
    Ok(Worlds {
        rest: Rest::Frames {
            trajectory: Box::new(trajectory),
            frames,
            span: frames.resolve(count).unwrap_or(nothing),
            found: false,
        },
    })
}

enum Source {
    /// A regular file, which can be read more than once.
    File(File),
    /// Standard input or a pipe, which can be read only once.
    Stream(Box<dyn Read>),
}

impl Source {
    fn open(input: &Input) -> anyhow::Result<Self> {
        let Some(path) = &input.path else {
            return Ok(Self::Stream(Box::new(io::stdin())));
        };
        let file = open_file(path)?;
        Ok(
            if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
                Self::File(file)
            } else {
                Self::Stream(Box::new(file))
            },
        )
    }

    /// Returns a file with the bytes of the input. A stream is copied to a temporary file first.
    fn keep(&mut self, progress: &dyn Progress) -> anyhow::Result<&mut File> {
        if let Self::Stream(stream) = self {
            progress.begin("waiting for the input", None);
            let kept = || {
                let folder = std::env::temp_dir();
                format!(
                    "cannot copy the input to a temporary file in {}; set TMPDIR to use another \
                     folder",
                    folder.display()
                )
            };
            let mut file = tempfile::tempfile().with_context(kept)?;
            io::copy(stream, &mut file).with_context(kept)?;
            *self = Self::File(file);
        }
        match self {
            Self::File(file) => Ok(file),
            Self::Stream(_) => bail!("the input cannot be read twice"),
        }
    }

    /// Returns the text of the input from byte `begin` on, decompressed if it is gzipped. A stream can be
    /// read only once, from its beginning.
    fn text<'a>(
        &mut self,
        begin: u64,
        what: &'static str,
        progress: &'a dyn Progress,
    ) -> anyhow::Result<Box<dyn BufRead + 'a>> {
        match self {
            Self::File(file) => text_of(file.try_clone()?, begin, what, progress),
            Self::Stream(stream) => {
                let stream = std::mem::replace(stream, Box::new(io::empty()));
                unpacked(BufReader::with_capacity(BUFFER, stream))
            }
        }
    }

    /// Returns a reader of the input that can seek. A stream is copied to a temporary file first.
    fn seekable<'a>(
        &mut self,
        what: &'static str,
        progress: &'a dyn Progress,
    ) -> anyhow::Result<BufReader<Watched<'a>>> {
        let file = self.keep(progress)?.try_clone()?;
        Ok(BufReader::with_capacity(
            BUFFER,
            Watched::new(file, what, progress)?,
        ))
    }
}

fn open_file(path: &Path) -> anyhow::Result<File> {
    // Unix opens a directory like a file, and fails only when reading.
    if path.is_dir() {
        bail!("{} is a directory, not a file", path.display());
    }
    File::open(path).with_context(|| format!("cannot open {}", path.display()))
}

/// Returns the text of a file from byte `begin` on. `begin` counts decompressed bytes of a gzip file.
fn text_of<'a>(
    file: File,
    begin: u64,
    what: &'static str,
    progress: &'a dyn Progress,
) -> anyhow::Result<Box<dyn BufRead + 'a>> {
    let mut input = BufReader::with_capacity(BUFFER, Watched::new(file, what, progress)?);
    if input.fill_buf()?.starts_with(GZIP) {
        let mut plain = unpacked(input)?;
        io::copy(&mut (&mut plain).take(begin), &mut io::sink())?;
        return Ok(plain);
    }
    input.seek(SeekFrom::Start(begin))?;
    Ok(Box::new(input))
}

/// Returns the contents of a file, decompressed if it is a gzip file.
fn unpacked<'a>(mut input: impl BufRead + 'a) -> anyhow::Result<Box<dyn BufRead + 'a>> {
    // A single read from a pipe may return only one of the two bytes that mark a gzip file.
    let mut begin = Vec::new();
    (&mut input)
        .take(GZIP.len() as u64)
        .read_to_end(&mut begin)?;
    let is_packed = begin == GZIP;
    let input = Cursor::new(begin).chain(input);
    if !is_packed {
        return Ok(Box::new(input));
    }
    Ok(Box::new(BufReader::with_capacity(
        BUFFER,
        MultiGzDecoder::new(input),
    )))
}

/// A file that reports to `progress` how many bytes have been read.
struct Watched<'a> {
    file: File,
    progress: &'a dyn Progress,
}

impl<'a> Watched<'a> {
    fn new(mut file: File, what: &'static str, progress: &'a dyn Progress) -> io::Result<Self> {
        file.seek(SeekFrom::Start(0))?;
        let bytes = file.metadata().ok().map(|metadata| metadata.len());
        progress.begin(what, bytes);
        Ok(Self { file, progress })
    }
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}

impl Seek for Watched<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}
