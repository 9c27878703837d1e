//! Opens an input file and reads its spheres.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::error::{Context, Error, ErrorKind, Result, bail};
use crate::read::detect::{Detected, ENOUGH, detect};
use crate::read::input::{Bytes, Content};
use crate::read::trajectory::Seen;
use crate::read::unpack::{BUFFER, Text, cut_mark, is_packed, unpacked};
use crate::read::{
    Format, Input, Layout, ReadOptions, Separator, Trajectory, World, csv, data, npy, npz,
    shown_path,
};

/// Receives reports on the progress of reading a file. The implementation for `()` ignores the reports.
pub trait Progress: Sync {
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

/// Adds to an error that the data are compressed and damaged, if this is the cause.
pub(crate) fn told(input: &Input, error: Error) -> Error {
    let is_kept = match &input.content {
        Content::Path(path) => path.is_file(),
        Content::Bytes(_) => true,
        Content::StandardInput | Content::Series(_) => false,
    };
    if !is_kept || !matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Unsupported) {
        return error;
    }
    let Ok(Source::Kept(kept)) = Source::open(input) else {
        return error;
    };
    let unpack = || -> io::Result<()> {
        let mut bytes = kept.read("checking", &())?;
        if is_packed(bytes.fill_buf()?) {
            io::copy(&mut unpacked(bytes)?, &mut io::sink())?;
        }
        Ok(())
    };
    use io::ErrorKind::{InvalidData, InvalidInput};
    match unpack() {
        Err(cause) if matches!(cause.kind(), InvalidData | InvalidInput) => {
            error.and(&format!("The cause: {cause}"))
        }
        Ok(()) | Err(_) => error,
    }
}

/// Opens an input, and returns its format: the one that the caller chose, or else the one that the contents or the
/// name tells.
pub(super) fn prepare(input: &Input, options: &ReadOptions) -> Result<(Format, Source)> {
    let mut file = Source::open(input)?;
    if let Some(format) = input.chosen() {
        return Ok((format, file));
    }
    let source = input.name();
    let (begin, is_whole) = file
        .begin()
        .with_context(|| format!("cannot read {source}"))?;
    // The reader of a format that the name tells says what an empty file lacks.
    if begin.is_empty() && input.format().is_none() {
        bail!("{source} is empty");
    }
    // The contents are decompressed once.
    if is_packed(&begin) {
        return Err(Error::of(
            ErrorKind::Unsupported,
            format!("{source} is compressed twice; decompress it once with another program"),
        ));
    }
    if let Some(what) = cut_mark(&begin) {
        let text = format!("cannot read {source}: {what}");
        return Err(Error::of(ErrorKind::CutOff, text));
    }
    let format = match detect(&begin, is_whole) {
        Detected::Format(format) => Some(format),
        Detected::Foreign(what, way_out) => {
            let way_out = way_out.replace("INPUT", source);
            return Err(Error::of(
                ErrorKind::Unsupported,
                format!("{source} is {what}, which is not read; {way_out}"),
            ));
        }
        Detected::Unknown => input.format(),
    };
    // Standard input has no name, and some options are for tables only.
    let is_table = options
        .separator
        .is_some_and(|separator| separator != Separator::Comma)
        || options
            .columns
            .as_ref()
            .is_some_and(|given| given.all().is_some())
        || matches!(input.content, Content::StandardInput);
    let format = format.or(is_table.then_some(Format::Csv));
    Ok((format.ok_or_else(|| input.unknown())?, file))
}

pub(super) fn layout(format: Format) -> Option<Layout> {
    match format {
        Format::Lammps => Some(Layout::Lammps),
        Format::Xyz => Some(Layout::Xyz),
        Format::Csv | Format::LammpsData | Format::Npy | Format::Npz => None,
    }
}

/// Reads an input that has no frames.
pub(super) fn read_whole(
    format: Format,
    source: &str,
    file: &mut Source,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<World> {
    let cannot_read = || format!("cannot read {source}");
    let text = |file: &mut Source| file.text(0, "reading", progress).with_context(cannot_read);
    match format {
        Format::Npy => npy::read(source, text(file)?, options),
        Format::Npz => {
            if file.is_packed().with_context(cannot_read)? {
                return Err(Error::of(
                    ErrorKind::Unsupported,
                    format!(
                        "{source} is a .npz archive that was compressed again; decompress it with another program, \
                         such as gunzip"
                    ),
                ));
            }
            npy::without_names(source, options)?;
            let bytes = file.seekable("reading", progress);
            npz::read(source, bytes.with_context(cannot_read)?, options)
        }
        Format::LammpsData => data::read(source, text(file)?, options),
        _ => csv::read(source, text(file)?, options),
    }
}

/// An input of a series: its world, or a reader of its frames.
pub(crate) enum Opened<'a> {
    World(Option<Box<World>>),
    Frames(Box<Trajectory<Text<'a>>>),
}

/// Opens an input of a series. `before` is the number of frames of the inputs before it.
pub(crate) fn open_alone<'a>(
    input: &Input,
    options: &ReadOptions,
    progress: &'a dyn Progress,
    before: u64,
    seen: Seen,
) -> Result<Opened<'a>> {
    let source = input.name();
    let (format, mut file) = prepare(input, options)?;
    let Some(layout) = layout(format) else {
        let world = read_whole(format, source, &mut file, options, progress)?;
        return Ok(Opened::World(Some(Box::new(world))));
    };
    let text = file.text(0, "reading", progress);
    let text = text.with_context(|| format!("cannot read {source}"))?;
    let mut trajectory = Trajectory::new(layout, source, text, options);
    trajectory.number_from(before, seen);
    Ok(Opened::Frames(Box::new(trajectory)))
}

/// Returns the number of frames of an input of a series.
pub(crate) fn count(input: &Input, options: &ReadOptions, progress: &dyn Progress) -> Result<u64> {
    let source = input.name();
    if matches!(input.content, Content::StandardInput) {
        bail!(
            "{source} can be read only once, so its frames cannot be counted; number the frames from \
             the beginning of the series"
        );
    }
    let (format, mut file) = prepare(input, options)?;
    let Some(layout) = layout(format) else {
        return Ok(1);
    };
    let text = file.text(0, "counting the frames", progress);
    let text = text.with_context(|| format!("cannot read {source}"))?;
    let counted = Trajectory::new(layout, source, text, options).count(0)?;
    Ok(counted.0)
}

pub(super) enum Source {
    /// A regular file or bytes, which can be read more than once.
    Kept(Kept),
    /// Standard input or a pipe, which can be read only once.
    Stream {
        stream: Box<dyn Read + Send>,
        /// Whether the stream has been decompressed.
        is_plain: bool,
    },
}

/// An error as it is found when reading, which can be returned more than once.
type Failed = Option<(io::ErrorKind, String)>;

pub(super) enum Kept {
    /// A file, and the error that ended the stream of which it is a copy.
    File(File, Failed),
    Bytes(Bytes),
}

impl Source {
    fn open(input: &Input) -> Result<Self> {
        let path = match &input.content {
            Content::Path(path) => path,
            Content::Bytes(bytes) => return Ok(Self::Kept(Kept::Bytes(bytes.clone()))),
            Content::StandardInput => return Ok(Self::stream(io::stdin())),
            Content::Series(_) => bail!("a series of inputs is not a file"),
        };
        let file = open_file(path)?;
        Ok(
            if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
                Self::Kept(Kept::File(file, None))
            } else {
                Self::stream(file)
            },
        )
    }

    fn stream(stream: impl Read + Send + 'static) -> Self {
        Self::Stream {
            stream: Box::new(stream),
            is_plain: false,
        }
    }

    /// Returns the first bytes of the input, decompressed, from which its format is recognised, and whether these are
    /// all. They stay part of the input.
    fn begin(&mut self) -> io::Result<(Vec<u8>, bool)> {
        let mut begin = Vec::new();
        let most = ENOUGH as u64;
        // The reader of the format reports what is wrong with compressed data after the first bytes.
        let is_whole = |read: io::Result<usize>, begin: Vec<u8>| match read {
            Err(error) if begin.is_empty() => Err(error),
            read => Ok((begin, read.is_ok_and(|read| (read as u64) < most))),
        };
        match self {
            Self::Kept(kept) => {
                let text = text_of(kept.read("reading", &())?, 0)?;
                let read = text.take(most).read_to_end(&mut begin);
                is_whole(read, begin)
            }
            Self::Stream { stream, is_plain } => {
                let input = std::mem::replace(stream, Box::new(io::empty()));
                let mut text = unpacked(BufReader::with_capacity(BUFFER, input))?;
                let read = (&mut text).take(most).read_to_end(&mut begin);
                *stream = Box::new(Cursor::new(begin.clone()).chain(text));
                *is_plain = true;
                is_whole(read, begin)
            }
        }
    }

    /// Returns whether the bytes that [`Source::seekable`] returns are compressed.
    fn is_packed(&self) -> io::Result<bool> {
        match self {
            Self::Kept(kept) => Ok(is_packed(kept.read("reading", &())?.fill_buf()?)),
            Self::Stream { .. } => Ok(false),
        }
    }

    /// Returns the bytes of the input. A stream is copied first: to a temporary file, or to memory in
    /// WebAssembly, which has no folder for temporary files.
    pub(super) fn keep(&mut self, progress: &dyn Progress) -> Result<&Kept> {
        if let Self::Stream { stream, .. } = self {
            progress.begin("waiting for the input", None);
            let kept = || {
                let folder = std::env::temp_dir();
                format!(
                    "cannot copy the input to a temporary file in {}; set TMPDIR to use another \
                     folder",
                    shown_path(&folder)
                )
            };
            if cfg!(target_family = "wasm") {
                let mut bytes = Vec::new();
                stream.read_to_end(&mut bytes).map_err(Error::other)?;
                *self = Self::Kept(Kept::Bytes(bytes.into()));
                return self.keep(progress);
            }
            let mut file = tempfile::tempfile().with_context(kept)?;
            let mut failed = None;
            let mut stream = BufReader::with_capacity(BUFFER, stream);
            loop {
                let count = match stream.fill_buf() {
                    Ok([]) => break,
                    Ok(bytes) => {
                        file.write_all(bytes).with_context(kept)?;
                        bytes.len()
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
                    // The bytes before can be read.
                    Err(error) => {
                        failed = Some((error.kind(), error.to_string()));
                        break;
                    }
                };
                stream.consume(count);
            }
            *self = Self::Kept(Kept::File(file, failed));
        }
        match self {
            Self::Kept(kept) => Ok(kept),
            Self::Stream { .. } => bail!("the input cannot be read twice"),
        }
    }

    /// Returns the text of the input from byte `begin` on, decompressed if it is compressed. A stream can be
    /// read only once, from its beginning.
    pub(super) fn text<'a>(
        &mut self,
        begin: u64,
        what: &'static str,
        progress: &'a dyn Progress,
    ) -> io::Result<Text<'a>> {
        match self {
            Self::Kept(kept) => text_of(kept.read(what, progress)?, begin),
            Self::Stream { stream, is_plain } => {
                let stream = std::mem::replace(stream, Box::new(io::empty()));
                let stream = BufReader::with_capacity(BUFFER, stream);
                if *is_plain {
                    Ok(Box::new(stream))
                } else {
                    unpacked(stream)
                }
            }
        }
    }

    /// Returns a reader of the input that can seek. A stream is copied first, as by [`Source::keep`].
    fn seekable<'a>(
        &mut self,
        what: &'static str,
        progress: &'a dyn Progress,
    ) -> Result<BufReader<Watched<'a>>> {
        let kept = self.keep(progress)?;
        kept.read(what, progress).map_err(Error::other)
    }
}

impl Kept {
    /// Returns a reader that begins at the first byte. It reports to `progress` that `what` begins.
    fn read<'a>(
        &self,
        what: &'static str,
        progress: &'a dyn Progress,
    ) -> io::Result<BufReader<Watched<'a>>> {
        let mut failed = &None;
        let (input, bytes): (Box<dyn Again>, _) = match self {
            Self::File(file, wrong) => {
                failed = wrong;
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(0))?;
                let bytes = file.metadata().ok().map(|metadata| metadata.len());
                (Box::new(file), bytes)
            }
            Self::Bytes(bytes) => {
                let count = bytes.as_ref().len() as u64;
                (Box::new(Cursor::new(bytes.clone())), Some(count))
            }
        };
        progress.begin(what, bytes);
        let watched = Watched {
            input,
            progress,
            failed: failed.clone(),
        };
        Ok(BufReader::with_capacity(BUFFER, watched))
    }
}

fn open_file(path: &Path) -> Result<File> {
    // Unix opens a directory like a file, and fails only when reading.
    if path.is_dir() {
        bail!("{} is a directory, not a file", shown_path(path));
    }
    File::open(path).with_context(|| format!("cannot open {}", shown_path(path)))
}

/// Returns the text of a file from byte `begin` on. `begin` counts decompressed bytes of a compressed file.
fn text_of(mut input: BufReader<Watched<'_>>, begin: u64) -> io::Result<Text<'_>> {
    if is_packed(input.fill_buf()?) {
        let mut plain = unpacked(input)?;
        io::copy(&mut (&mut plain).take(begin), &mut io::sink())?;
        return Ok(plain);
    }
    input.seek(SeekFrom::Start(begin))?;
    Ok(Box::new(input))
}

/// A reader that can go back to bytes that it has read before.
trait Again: Read + Seek + Send {}

impl<R: Read + Seek + Send> Again for R {}

/// A file that reports to `progress` how many bytes have been read.
struct Watched<'a> {
    input: Box<dyn Again>,
    progress: &'a dyn Progress,
    /// The error at its end.
    failed: Failed,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.progress.advance(read as u64);
        match &self.failed {
            Some((kind, what)) if read == 0 && !buffer.is_empty() => {
                Err(io::Error::new(*kind, what.clone()))
            }
            _ => Ok(read),
        }
    }
}

impl Seek for Watched<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.input.seek(to)
    }
}
