//! Decompresses inputs: gzip, Zstandard, bzip2 and xz, which their first bytes tell.

use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;
use lzma_rust2::{Action, Status, XzStream};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The text of an input, decompressed.
pub(crate) type Text<'a> = Box<dyn BufRead + Send + 'a>;

pub(crate) const BUFFER: usize = 1 << 16;

const GZIP: &[u8] = b"\x1f\x8b";
const BZIP2: &[u8] = b"BZh";
const XZ: &[u8] = b"\xfd7zXZ\x00";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
/// The first of four bytes of a skippable frame of Zstandard differs in its lower half.
const ZSTD_SKIPPABLE: &[u8] = b"\x2a\x4d\x18";

/// Number of bytes that tell whether data are compressed.
const MARK: u64 = 6;

/// Largest number of bytes of earlier output that a decoder may keep, as in the program `zstd`.
const LARGEST_WINDOW: u64 = 128 << 20;

/// An input of n compressed bytes may expand to at most `FREE + RATIO * n` bytes. Gzip cannot expand its input by more
/// than a factor of 1032.
const RATIO: u64 = 1100;
const FREE: u64 = 64 << 20;

/// Returns whether the first bytes of an input tell that it is compressed.
pub(crate) fn is_packed(begin: &[u8]) -> bool {
    Packing::of(begin).is_some()
}

/// Returns the error for an input that ends within the bytes that mark compressed data.
pub(crate) fn cut_mark(all: &[u8]) -> Option<String> {
    let kinds = [Packing::Gzip, Packing::Bzip2, Packing::Xz, Packing::Zst];
    let is_cut = |kind: &Packing| all.len() > 1 && kind.may_begin(all);
    let name = kinds.into_iter().find(is_cut)?.name();
    Some(format!(
        "the {name} data are cut off; copy or write the file again"
    ))
}

/// How data are compressed.
#[derive(Clone, Copy, PartialEq)]
enum Packing {
    Gzip,
    Bzip2,
    Xz,
    Zst,
}

impl Packing {
    fn of(begin: &[u8]) -> Option<Self> {
        let is = |magic: &[u8]| begin.starts_with(magic);
        let is_level = |level: &u8| (b'1'..=b'9').contains(level);
        let is_skippable = begin.first().is_some_and(|byte| byte >> 4 == 5)
            && begin[1..].starts_with(ZSTD_SKIPPABLE);
        if is(GZIP) {
            Some(Self::Gzip)
        } else if is(BZIP2) && begin.get(3).is_some_and(is_level) {
            Some(Self::Bzip2)
        } else if is(XZ) {
            Some(Self::Xz)
        } else {
            (is(ZSTD) || is_skippable).then_some(Self::Zst)
        }
    }

    /// The name in messages, which is that of the program.
    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zst => "zstd",
        }
    }

    /// Returns whether `begin` are the first bytes of such data, cut off.
    fn may_begin(self, begin: &[u8]) -> bool {
        let magic = match self {
            Self::Gzip => GZIP,
            Self::Bzip2 => BZIP2,
            Self::Xz => XZ,
            Self::Zst => ZSTD,
        };
        magic.starts_with(begin)
    }
}

/// Returns the contents of an input, decompressed if it is compressed.
pub(crate) fn unpacked<'a>(mut input: impl BufRead + Send + 'a) -> io::Result<Text<'a>> {
    // A single read from a pipe may return only one of the bytes that mark a compressed file.
    let mut begin = Vec::new();
    (&mut input).take(MARK).read_to_end(&mut begin)?;
    let packing = Packing::of(&begin);
    let input = Cursor::new(begin).chain(input);
    let Some(packing) = packing else {
        return Ok(Box::new(input));
    };
    let packed = Arc::new(AtomicU64::new(0));
    let input = BufReader::with_capacity(
        BUFFER,
        Counted {
            input,
            count: Arc::clone(&packed),
        },
    );
    let parts = Parts {
        packing,
        part: Some(Part::new(packing, Begun::new(input))),
        packed,
        unpacked: 0,
        failed: None,
    };
    Ok(Box::new(BufReader::with_capacity(BUFFER, parts)))
}

/// Counts the bytes that are read.
struct Counted<R> {
    input: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// An input of which the next bytes can be read before a decoder reads them.
struct Begun<R> {
    begin: Cursor<Vec<u8>>,
    input: R,
    /// Whether a read found the end of the input.
    is_at_end: bool,
}

impl<R: BufRead> Begun<R> {
    fn new(input: R) -> Self {
        Self {
            begin: Cursor::default(),
            input,
            is_at_end: false,
        }
    }

    /// Skips zeros, and returns the next bytes, which stay part of the input.
    fn after_zeros(&mut self) -> io::Result<&[u8]> {
        loop {
            let bytes = self.fill_buf()?;
            let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
            let is_all = zeros == bytes.len();
            self.consume(zeros);
            if zeros == 0 || !is_all {
                break;
            }
        }
        let mut begin = Vec::new();
        (&mut *self).take(MARK).read_to_end(&mut begin)?;
        self.begin = Cursor::new(begin);
        Ok(self.begin.get_ref())
    }
}

impl<R: BufRead> Read for Begun<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        self.is_at_end |= read == 0 && !buffer.is_empty();
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Begun<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let begin = self.begin.fill_buf()?.len();
        if begin > 0 {
            self.begin.fill_buf()
        } else {
            self.input.fill_buf()
        }
    }

    fn consume(&mut self, count: usize) {
        if self.begin.fill_buf().is_ok_and(|begin| !begin.is_empty()) {
            self.begin.consume(count);
        } else {
            self.input.consume(count);
        }
    }
}

/// The decoder of one of the parts of which a compressed file consists.
enum Part<R> {
    Gzip(Box<GzDecoder<R>>),
    Bzip2(BzDecoder<R>),
    Xz(Box<Xz<R>>),
    Zst(Box<Zstd<R>>),
}

impl<R: BufRead> Part<Begun<R>> {
    fn new(packing: Packing, input: Begun<R>) -> Self {
        match packing {
            Packing::Gzip => Self::Gzip(Box::new(GzDecoder::new(input))),
            Packing::Bzip2 => Self::Bzip2(BzDecoder::new(input)),
            Packing::Xz => Self::Xz(Box::new(Xz::new(input))),
            Packing::Zst => Self::Zst(Box::new(Zstd::new(input))),
        }
    }

    fn into_input(self) -> Begun<R> {
        match self {
            Self::Gzip(decoder) => decoder.into_inner(),
            Self::Bzip2(decoder) => decoder.into_inner(),
            Self::Xz(decoder) => decoder.input,
            Self::Zst(decoder) => decoder.input,
        }
    }
}

impl<R: BufRead> Read for Part<Begun<R>> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(decoder) => decoder.read(buffer),
            Self::Bzip2(decoder) => decoder.read(buffer),
            Self::Xz(decoder) => decoder.read(buffer),
            Self::Zst(decoder) => decoder.read(buffer),
        }
    }
}

/// Reads the parts of a compressed file one after the other. Zeros may follow a part, as in the programs `gzip` and
/// `xz`. Limits the size to which the input expands.
struct Parts<R> {
    packing: Packing,
    part: Option<Part<Begun<R>>>,
    packed: Arc<AtomicU64>,
    unpacked: u64,
    /// The error that ended the reading, which later reads return again.
    failed: Option<(ErrorKind, String)>,
}

impl<R: BufRead> Parts<R> {
    fn read_on(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(part) = &mut self.part {
            let read = part.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let Some(mut input) = self.part.take().map(Part::into_input) else {
                break;
            };
            let packing = self.packing;
            let begin = input.after_zeros()?;
            if begin.is_empty() {
                break;
            }
            if Packing::of(begin) != Some(packing) {
                if packing.may_begin(begin) {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                return Err(io::Error::other(format!(
                    "other bytes follow the {} data; is the file damaged? Decompressing it with the program \
                     {} keeps what precedes them",
                    packing.name(),
                    packing.name()
                )));
            }
            input.is_at_end = false;
            self.part = Some(Part::new(packing, input));
        }
        Ok(0)
    }

    /// Returns an error in the words of the tool.
    fn told(&self, error: io::Error) -> io::Error {
        let name = self.packing.name();
        let what = match error.kind() {
            ErrorKind::UnexpectedEof => {
                format!("the {name} data are cut off; copy or write the file again")
            }
            ErrorKind::InvalidData | ErrorKind::InvalidInput => {
                format!("the {name} data are damaged; copy or write the file again")
            }
            ErrorKind::OutOfMemory | ErrorKind::Unsupported => format!(
                "decompressing the {name} data needs more memory than 128 MiB, or what only the program {name} \
                 can do; decompress the file with it"
            ),
            _ => return error,
        };
        io::Error::new(error.kind(), what)
    }
}

impl<R: BufRead> Read for Parts<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some((kind, what)) = &self.failed {
            return Err(io::Error::new(*kind, what.clone()));
        }
        let read = self.read_on(buffer).map_err(|error| self.told(error));
        let read = read.and_then(|read| {
            self.unpacked += read as u64;
            let packed = self.packed.load(Ordering::Relaxed);
            if self.unpacked > FREE.saturating_add(packed.saturating_mul(RATIO)) {
                return Err(io::Error::other(format!(
                    "the first {packed} bytes of the compressed input expand to more than {} bytes, which \
                     is beyond the limit of 64 MiB and {RATIO} times the compressed size; decompress it \
                     with another program",
                    self.unpacked - read as u64
                )));
            }
            Ok(read)
        });
        if let Err(error) = &read
            && error.kind() != ErrorKind::Interrupted
        {
            self.failed = Some((error.kind(), error.to_string()));
        }
        read
    }
}

/// Decoder of a stream of xz, which returns all bytes before the end of an input that was cut off.
struct Xz<R> {
    input: R,
    decoder: XzStream,
    /// Whether the input ended too early.
    is_cut: bool,
}

impl<R: BufRead> Xz<R> {
    fn new(input: R) -> Self {
        let kib = u32::try_from(LARGEST_WINDOW >> 10).unwrap_or(u32::MAX);
        Self {
            input,
            // The limit is for the dictionary and a little more.
            decoder: XzStream::new_mem_limit(false, kib + 1024),
            is_cut: false,
        }
    }
}

impl<R: BufRead> Read for Xz<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while !self.is_cut {
            let input = self.input.fill_buf()?;
            let is_at_end = input.is_empty();
            let action = if is_at_end {
                Action::Finish
            } else {
                Action::Run
            };
            let before = self.decoder.total_out();
            let read = match self.decoder.process(input, buffer, action) {
                Ok(done) => {
                    self.input.consume(done.bytes_consumed);
                    if done.status == Status::StreamEnd {
                        return Ok(done.bytes_produced);
                    }
                    self.is_cut = is_at_end && done.bytes_produced == 0;
                    if !is_at_end && done.bytes_consumed == 0 && done.bytes_produced == 0 {
                        return Err(ErrorKind::InvalidData.into());
                    }
                    done.bytes_produced
                }
                // The decoder has written the last bytes before it found that the rest is missing.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    self.is_cut = true;
                    usize::try_from(self.decoder.total_out() - before).unwrap_or(0)
                }
                Err(error) => {
                    return Err(match error.kind() {
                        ErrorKind::OutOfMemory | ErrorKind::Unsupported => error,
                        _ => ErrorKind::InvalidData.into(),
                    });
                }
            };
            if read > 0 {
                return Ok(read);
            }
        }
        Err(ErrorKind::UnexpectedEof.into())
    }
}

/// Decoder of a frame of Zstandard. It checks the checksum of a frame that has one.
struct Zstd<R> {
    input: R,
    decoder: FrameDecoder,
    state: InFrame,
}

#[derive(Clone, Copy, PartialEq)]
enum InFrame {
    Before,
    Within,
    /// The input ended within the frame, which was decoded as if it ended there.
    CutOff,
    After,
}

/// The last block of a frame, which has no bytes, and a checksum that is not compared.
const NO_MORE: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

impl<R: BufRead> Zstd<Begun<R>> {
    fn new(input: Begun<R>) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(LARGEST_WINDOW);
        Self {
            input,
            decoder,
            state: InFrame::Before,
        }
    }

    /// Begins the frame, or skips it.
    fn begin(&mut self) -> io::Result<InFrame> {
        match self.decoder.reset(&mut self.input) {
            Ok(()) => Ok(InFrame::Within),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let mut skipped = (&mut self.input).take(length.into());
                if io::copy(&mut skipped, &mut io::sink())? < length.into() {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                Ok(InFrame::After)
            }
            Err(error) => Err(self.wrong(error)),
        }
    }

    fn wrong(&self, error: FrameDecoderError) -> io::Error {
        let kind = match &error {
            FrameDecoderError::WindowSizeTooBig { .. } => ErrorKind::OutOfMemory,
            FrameDecoderError::DictNotProvided { .. } => ErrorKind::Unsupported,
            // A decoder that found the end of the input lacks the rest of it.
            _ if self.input.is_at_end => ErrorKind::UnexpectedEof,
            _ => ErrorKind::InvalidData,
        };
        io::Error::new(kind, error)
    }

    fn decode_block(&mut self) -> io::Result<()> {
        let one = BlockDecodingStrategy::UptoBlocks(1);
        let Err(error) = self.decoder.decode_blocks(&mut self.input, one) else {
            return Ok(());
        };
        let error = self.wrong(error);
        if error.kind() != ErrorKind::UnexpectedEof {
            return Err(error);
        }
        // The decoder keeps the bytes of its window until it knows that no block refers to them.
        self.state = InFrame::CutOff;
        let one = BlockDecodingStrategy::UptoBlocks(1);
        let ended = self.decoder.decode_blocks(&NO_MORE[..], one);
        ended.map_or_else(|error| Err(self.wrong(error)), |_| Ok(()))
    }
}

impl<R: BufRead> Read for Zstd<Begun<R>> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.state == InFrame::Before {
            self.state = self.begin()?;
        }
        if self.state == InFrame::After {
            return Ok(0);
        }
        while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
            self.decode_block()?;
        }
        let read = self.decoder.read(buffer)?;
        if read > 0 || buffer.is_empty() {
            return Ok(read);
        }
        if self.state == InFrame::CutOff {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let stated = self.decoder.get_checksum_from_data();
        if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
            return Err(ErrorKind::InvalidData.into());
        }
        self.state = InFrame::After;
        Ok(0)
    }
}
