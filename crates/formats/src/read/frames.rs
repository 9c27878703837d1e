//! Selection of frames from a trajectory file.

use std::str::FromStr;

use crate::error::{Error, Result, bail};

/// A selection of frames from a trajectory file, numbered from 0. A negative number counts from the end of
/// the file: -1 is the last frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    /// A single frame.
    One(i64),
    /// A range of frames with the rules of Python's slices: every `step`th frame from `start` up to, but not
    /// including, `end`.
    Slice {
        /// First frame of the range, or `None` for the first frame of the file.
        start: Option<i64>,
        /// Frame after the end of the range, or `None` for a range up to the end of the file.
        end: Option<i64>,
        /// Difference between the numbers of consecutive selected frames.
        step: u64,
    },
}

/// Selects the last frame, like [`Frames::LAST`].
impl Default for Frames {
    fn default() -> Self {
        Self::LAST
    }
}

impl Frames {
    /// Selects the last frame of a trajectory file.
    pub const LAST: Self = Self::One(-1);
    /// Selects every frame of a trajectory file.
    pub const ALL: Self = Self::Slice {
        start: None,
        end: None,
        step: 1,
    };

    /// Returns whether frames are selected by a range, and not by the number of a single frame.
    pub fn are_several(self) -> bool {
        matches!(self, Self::Slice { .. })
    }

    /// Returns whether a selection of frames counts from the end of the file, so that the number of frames in
    /// the file must be known first.
    pub(crate) fn count_from_the_end(self) -> bool {
        let negative = |frame: Option<i64>| frame.is_some_and(|frame| frame < 0);
        match self {
            Self::One(frame) => frame < 0,
            Self::Slice { start, end, .. } => negative(start) || negative(end),
        }
    }

    /// Returns how many frames before the end of the file the selection begins, if its first frame number is
    /// negative (counts from the end). Otherwise, returns 0.
    pub(crate) fn marks(self) -> u64 {
        let (Self::One(start)
        | Self::Slice {
            start: Some(start), ..
        }) = self
        else {
            return 0;
        };
        if start < 0 { start.unsigned_abs() } else { 0 }
    }

    /// Returns the frames that the selection contains in a file of `count` frames. Returns `None` if the
    /// selection is a single frame that would be before the first frame of the file. `count` matters only for
    /// negative frame numbers, which count from the end of the file.
    pub(crate) fn resolve(self, count: u64) -> Option<Span> {
        let from_end = |frame: i64| {
            u64::try_from(frame)
                .ok()
                .or_else(|| count.checked_sub(frame.unsigned_abs()))
        };
        match self {
            Self::One(frame) => from_end(frame).map(|frame| Span {
                start: frame,
                end: frame.saturating_add(1),
                step: 1,
            }),
            // As in Python, a range of frames that begins or ends before the first frame of the file is cut
            // off there.
            Self::Slice { start, end, step } => Some(Span {
                start: start.map_or(0, |start| from_end(start).unwrap_or(0)),
                end: end.map_or(u64::MAX, |end| from_end(end).unwrap_or(0)),
                step,
            }),
        }
    }
}

/// A range of frames of a trajectory file, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u64,
    /// Number of the frame after the end of the range, which may be past the end of the file.
    pub(crate) end: u64,
    pub(crate) step: u64,
}

impl FromStr for Frames {
    type Err = Error;

    /// Parses a selection of frames: `last`, `all`, a frame number, `START:END` or `START:END:STEP`, in which
    /// each part may be empty.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::new(
                "must be the number of a frame (from 0, or negative to count from the end), last, \
                 all, or a range START:END or START:END:STEP as in Python",
            )
        };
        match text {
            "last" => return Ok(Self::LAST),
            "all" => return Ok(Self::ALL),
            _ => {}
        }
        let number = |text: &str| match text.trim() {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| wrong()),
        };
        let parts = text.split(':').map(number).collect::<Result<Vec<_>>>()?;
        match *parts {
            [Some(frame)] => Ok(Self::One(frame)),
            [start, end] => Ok(Self::Slice {
                start,
                end,
                step: 1,
            }),
            [start, end, step] => match u64::try_from(step.unwrap_or(1)) {
                Ok(step) if step > 0 => Ok(Self::Slice { start, end, step }),
                _ => bail!("the STEP of a range of frames must be 1 or more"),
            },
            _ => Err(wrong()),
        }
    }
}

impl std::fmt::Display for Frames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = |frame: Option<i64>| frame.map_or(String::new(), |frame| frame.to_string());
        match *self {
            Self::One(frame) => write!(f, "{frame}"),
            Self::ALL => f.write_str("all"),
            Self::Slice { start, end, step } => {
                write!(f, "{}:{}", number(start), number(end))?;
                if step == 1 {
                    Ok(())
                } else {
                    write!(f, ":{step}")
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(text: &str, count: u64) -> Vec<u64> {
        let frames: Frames = text.parse().unwrap();
        let Some(span) = frames.resolve(count) else {
            return Vec::new();
        };
        let all = (span.start..span.end.min(count)).step_by(usize::try_from(span.step).unwrap());
        all.collect()
    }

    /// The expected frame numbers were computed with `list(range(5))[...]` in Python.
    #[test]
    fn ranges_select_the_same_frames_as_in_python() {
        for (text, expected) in [
            ("0", &[0][..]),
            ("4", &[4]),
            ("5", &[]),
            ("-1", &[4]),
            ("last", &[4]),
            ("-5", &[0]),
            ("-6", &[]),
            ("all", &[0, 1, 2, 3, 4]),
            (":", &[0, 1, 2, 3, 4]),
            ("1:3", &[1, 2]),
            ("3:1", &[]),
            (":2", &[0, 1]),
            ("3:", &[3, 4]),
            ("-2:", &[3, 4]),
            (":-2", &[0, 1, 2]),
            ("-9:2", &[0, 1]),
            ("1:99", &[1, 2, 3, 4]),
            ("7:9", &[]),
            (":-9", &[]),
            ("::2", &[0, 2, 4]),
            ("1::2", &[1, 3]),
            ("1:4:3", &[1]),
        ] {
            assert_eq!(chosen(text, 5), expected, "{text}");
        }
    }

    #[test]
    fn invalid_selections_of_frames_are_rejected() {
        for text in [
            "",
            "x",
            "1.5",
            "1:2:0",
            "1:2:-1",
            "1:2:3:4",
            "1-2",
            "99999999999999999999",
        ] {
            assert!(text.parse::<Frames>().is_err(), "{text}");
        }
    }

    #[test]
    fn selections_of_frames_are_printed_as_they_were_parsed() {
        for text in ["3", "-1", "all", "1:", ":-2", "1:4:3", "::2"] {
            assert_eq!(text.parse::<Frames>().unwrap().to_string(), text);
        }
    }
}
