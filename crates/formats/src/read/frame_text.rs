//! The text of a trajectory file.

use std::io::BufRead;

use crate::error::{Error, ErrorKind, Result};
use crate::read::number;
use crate::read::text::Text;

pub(crate) struct FrameText<R> {
    pub(crate) text: Text<R>,
    pub(crate) next: u64,
    /// Number of the first frame of the file, which is not 0 in a series of files.
    pub(crate) first: u64,
}

impl<R: BufRead> FrameText<R> {
    pub(crate) fn cut(&self, what: &str) -> Error {
        self.text
            .wrong(&format!("{what}; was it cut off?"))
            .with_kind(ErrorKind::CutOff)
    }

    /// Returns an error, with the way out if the text is cut off.
    pub(crate) fn told(&self, error: Error) -> Error {
        if error.kind() != ErrorKind::CutOff || self.next == 0 {
            return error;
        }
        error.and(&format!(
            "To read the last complete frame before it, use --frame {}, or all before it, --frames :{}",
            self.next - 1,
            self.next
        ))
    }

    /// Parses a line that must contain only an integer, called `what` in messages.
    pub(crate) fn whole<T: std::str::FromStr>(&self, what: &str) -> Result<T> {
        let text = self.text.line();
        let number = std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse().ok());
        number.ok_or_else(|| {
            let text = number::shown(text);
            self.text.wrong(&format!(
                "the {what} is `{text}`, but must be a whole number"
            ))
        })
    }
}

pub(crate) fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|field| !field.is_empty())
}
