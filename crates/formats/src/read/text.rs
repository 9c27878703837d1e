//! Reads a text file line by line.

use std::io::{self, BufRead, Read};

use crate::error::{Error, ErrorKind, Result, at};

/// Maximum length of a line in bytes, so that a file without line ends does not fill the memory.
const LONGEST: u64 = 1 << 20;

pub(crate) struct Text<R> {
    source: String,
    input: R,
    place: Place,
    line: Vec<u8>,
}

/// A place between two lines of a text file, given by the numbers of lines and bytes before it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// Number of lines of the text file before this place.
    pub line: u64,
    /// Number of bytes of the text file before this place.
    pub byte: u64,
}

impl<R: BufRead> Text<R> {
    /// Creates a reader of a text file called `source` in messages. `input` begins at the position `place` of
    /// the file.
    pub(crate) fn new(source: &str, input: R, place: Place) -> Self {
        Self {
            source: source.to_owned(),
            input,
            place,
            line: Vec::new(),
        }
    }

    pub(crate) fn start_at(&mut self, place: Place) {
        self.place = place;
    }

    /// Reads the next line, or returns false at the end of the file.
    pub(crate) fn next(&mut self) -> Result<bool> {
        self.line.clear();
        let read = (&mut self.input)
            .take(LONGEST)
            .read_until(b'\n', &mut self.line)
            .map_err(|error| self.unreadable(error))? as u64;
        if read == 0 {
            return Ok(false);
        }
        self.place.line += 1;
        self.place.byte += read;
        if read == LONGEST && !self.is_ended() {
            return Err(
                self.wrong("the line is longer than 1 MiB, the limit; is this a text file?")
            );
        }
        if self.place.line == 1 {
            self.mark()?;
        }
        // A carriage return (CR) within a line is an error. The lines of the file probably end with
        // CR alone, and the reader would take the whole file for one line.
        if self.line.trim_ascii_end().contains(&b'\r') {
            return Err(self.wrong("a line ends with CR alone; save the file with LF or CRLF"));
        }
        Ok(true)
    }

    /// Returns the error for a line that cannot be read. A compressed file that ends too early counts as cut off.
    fn unreadable(&self, error: io::Error) -> Error {
        let is_cut = error.kind() == io::ErrorKind::UnexpectedEof;
        let text = match self.place.line {
            0 => format!("cannot read {}", self.source),
            line => format!("cannot read {} after line {line}", self.source),
        };
        if is_cut {
            return Error::of(ErrorKind::CutOff, format!("{text}: {error}"));
        }
        Error::caused(text, error)
    }

    /// Removes a UTF-8 byte-order mark from the first line of a text file. A UTF-16 byte-order mark is an
    /// error.
    fn mark(&mut self) -> Result<()> {
        if self.line.starts_with(b"\xff\xfe") || self.line.starts_with(b"\xfe\xff") {
            return Err(self.wrong("the text is UTF-16; save the file as UTF-8"));
        }
        if self.line.starts_with(b"\xef\xbb\xbf") {
            self.line.drain(..3);
        }
        Ok(())
    }

    pub(crate) fn line(&self) -> &[u8] {
        self.line.trim_ascii()
    }

    /// Returns whether the line that was read last ends with a line feed. A line without a line feed may have
    /// been cut off.
    pub(crate) fn is_ended(&self) -> bool {
        self.line.ends_with(b"\n")
    }

    pub(crate) fn unended(&self) -> String {
        format!(
            "the last line of {} has no line end, so its last number may be incomplete; check that \
             the file was not cut off",
            self.source
        )
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn unsupported(&self, what: &str) -> Error {
        self.wrong(what).with_kind(ErrorKind::Unsupported)
    }

    pub(crate) fn wrong(&self, what: &str) -> Error {
        at(&self.source, "line", self.place.line, what)
    }
}
