//! A text file, line by line.

use std::io::{BufRead, Read};

use anyhow::{Context, Error};

use crate::read::world::at;

/// The most bytes of a line. Noise without line ends would else fill the memory.
const LONGEST: u64 = 1 << 20;

/// A text that is read line by line.
pub(crate) struct Text<'a, R> {
    source: &'a str,
    input: R,
    place: Place,
    line: Vec<u8>,
}

/// How much of a text has been read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// Lines, so the number of the line last read.
    pub line: u64,
    /// Bytes.
    pub byte: u64,
}

impl<'a, R: BufRead> Text<'a, R> {
    /// A text from some place on; `input` begins there. `source` names it in messages.
    pub(crate) fn new(source: &'a str, input: R, place: Place) -> Self {
        Self {
            source,
            input,
            place,
            line: Vec::new(),
        }
    }

    /// Says that the input begins at this place of the text.
    pub(crate) fn start_at(&mut self, place: Place) {
        self.place = place;
    }

    /// Reads the next line; false at the end of the text.
    pub(crate) fn next(&mut self) -> anyhow::Result<bool> {
        self.line.clear();
        let read = (&mut self.input)
            .take(LONGEST)
            .read_until(b'\n', &mut self.line)
            .with_context(|| {
                format!("cannot read {} after line {}", self.source, self.place.line)
            })? as u64;
        if read == 0 {
            return Ok(false);
        }
        self.place.line += 1;
        self.place.byte += read;
        if read == LONGEST && !self.is_ended() {
            return Err(self.wrong("the line is longer than 1 MiB; is this a text file?"));
        }
        if self.place.line == 1 {
            self.mark()?;
        }
        // A quoted field may have any character but this one: lines that end with it alone would
        // become one.
        if self.line.trim_ascii_end().contains(&b'\r') {
            return Err(self.wrong("lines end with CR alone; save the file with LF or CRLF"));
        }
        Ok(true)
    }

    /// Takes a byte-order mark off the first line.
    fn mark(&mut self) -> anyhow::Result<()> {
        if self.line.starts_with(b"\xff\xfe") || self.line.starts_with(b"\xfe\xff") {
            return Err(self.wrong("the text is UTF-16; save the file as UTF-8"));
        }
        if self.line.starts_with(b"\xef\xbb\xbf") {
            self.line.drain(..3);
        }
        Ok(())
    }

    /// The line last read, without white space around it.
    pub(crate) fn line(&self) -> &[u8] {
        self.line.trim_ascii()
    }

    /// Whether the line last read has an end: if not, it may have been cut off.
    pub(crate) fn is_ended(&self) -> bool {
        self.line.ends_with(b"\n")
    }

    /// How far the text has been read.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// The name of the text in messages.
    pub(crate) fn source(&self) -> &'a str {
        self.source
    }

    /// An error about the line last read.
    pub(crate) fn wrong(&self, what: &str) -> Error {
        at(self.source, "line", self.place.line, what)
    }
}
