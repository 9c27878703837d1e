//! Decompresses inputs: gzip, Zstandard, bzip2 and xz, which their first bytes tell.

use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
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

/// Largest number of bytes of earlier output that a decoder may keep, as in the program `zstd`.
const LARGEST_WINDOW: u64 = 128 << 20;

/// An input of n compressed bytes may expand to at most `FREE + RATIO * n` bytes. Gzip cannot expand its input by more
/// than a factor of 1032.
const RATIO: u64 = 1100;
const FREE: u64 = 64 << 20;

/// Returns whether the first bytes of an input tell that it is compressed.
pub(crate) fn is_packed(begin: &[u8]) -> bool {
    [GZIP, XZ, ZSTD]
        .iter()
        .any(|magic| begin.starts_with(magic))
        || is_bzip2(begin)
        || is_skippable(begin)
}

fn is_bzip2(begin: &[u8]) -> bool {
    begin.starts_with(BZIP2)
        && begin
            .get(3)
            .is_some_and(|level| (b'1'..=b'9').contains(level))
}

fn is_skippable(begin: &[u8]) -> bool {
    begin.first().is_some_and(|byte| byte >> 4 == 5) && begin[1..].starts_with(ZSTD_SKIPPABLE)
}

/// Returns the contents of an input, decompressed if it is compressed.
pub(crate) fn unpacked<'a>(mut input: impl BufRead + Send + 'a) -> io::Result<Text<'a>> {
    // A single read from a pipe may return only one of the bytes that mark a compressed file.
    let mut begin = Vec::new();
    (&mut input).take(6).read_to_end(&mut begin)?;
    let is = |magic: &[u8]| begin.starts_with(magic);
    let (gzip, xz, bzip2) = (is(GZIP), is(XZ), is_bzip2(&begin));
    let is_packed = is_packed(&begin);
    let input = Cursor::new(begin).chain(input);
    if !is_packed {
        return Ok(Box::new(input));
    }
    let packed = Arc::new(AtomicU64::new(0));
    let input = BufReader::with_capacity(
        BUFFER,
        Counted {
            input,
            count: Arc::clone(&packed),
        },
    );
    let decoder: Box<dyn Read + Send + 'a> = if gzip {
        Box::new(MultiGzDecoder::new(input))
    } else if xz {
        let kib = u32::try_from(LARGEST_WINDOW >> 10).unwrap_or(u32::MAX);
        // The limit is for the dictionary and a little more.
        Box::new(XzReader::new_mem_limit(input, true, kib + 1024))
    } else if bzip2 {
        Box::new(MultiBzDecoder::new(input))
    } else {
        Box::new(Zstd::new(input))
    };
    let limited = Limited {
        decoder,
        packed,
        unpacked: 0,
    };
    Ok(Box::new(BufReader::with_capacity(BUFFER, limited)))
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

/// Limits the size to which an input expands.
struct Limited<'a> {
    decoder: Box<dyn Read + Send + 'a>,
    packed: Arc<AtomicU64>,
    unpacked: u64,
}

impl Read for Limited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
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
    }
}

/// Decoder of Zstandard, which may consist of several frames. It checks the checksum of each frame that has one.
struct Zstd<R> {
    input: R,
    decoder: FrameDecoder,
    is_within_frame: bool,
}

impl<R: BufRead> Zstd<R> {
    fn new(input: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(LARGEST_WINDOW);
        Self {
            input,
            decoder,
            is_within_frame: false,
        }
    }

    /// Begins the next frame, or returns false at the end of the input.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.input.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.input) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = (&mut self.input).take(length.into());
                    if io::copy(&mut skipped, &mut io::sink())? < length.into() {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(self.wrong(error)),
            }
        }
        Ok(false)
    }

    fn wrong(&mut self, error: FrameDecoderError) -> io::Error {
        // A decoder that fails at the end of the input lacks the rest of it.
        let is_at_end = self.input.fill_buf().is_ok_and(<[u8]>::is_empty);
        let kind = if is_at_end {
            ErrorKind::UnexpectedEof
        } else {
            ErrorKind::InvalidData
        };
        io::Error::new(kind, error)
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_within_frame {
                self.is_within_frame = self.begin()?;
                if !self.is_within_frame {
                    return Ok(0);
                }
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                if let Err(error) = self.decoder.decode_blocks(&mut self.input, one) {
                    return Err(self.wrong(error));
                }
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let stated = self.decoder.get_checksum_from_data();
            if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
                let what = "the checksum of the Zstandard data does not match; the file is damaged";
                return Err(io::Error::new(ErrorKind::InvalidData, what));
            }
            self.is_within_frame = false;
        }
    }
}
