//! Which frames of a trajectory to read.

use std::str::FromStr;

/// Which frames of a trajectory to read. Frames are counted from 0; a negative number counts from
/// the end, -1 being the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    /// This one.
    One(i64),
    /// Several, as Python's slices have it: from `start` (the first one) up to but without `end`
    /// (past the last one), every `step`th.
    Slice {
        /// The first frame.
        start: Option<i64>,
        /// The frame after the last.
        end: Option<i64>,
        /// From one frame to the next: 1 takes all.
        step: u64,
    },
}

impl Frames {
    /// The last frame.
    pub const LAST: Self = Self::One(-1);
    /// Every frame.
    pub const ALL: Self = Self::Slice {
        start: None,
        end: None,
        step: 1,
    };

    /// Whether this may be more than one frame.
    pub fn are_several(self) -> bool {
        matches!(self, Self::Slice { .. })
    }

    /// Whether the number of frames has to be known before the first is read.
    pub(crate) fn count_from_the_end(self) -> bool {
        let negative = |frame: Option<i64>| frame.is_some_and(|frame| frame < 0);
        match self {
            Self::One(frame) => frame < 0,
            Self::Slice { start, end, .. } => negative(start) || negative(end),
        }
    }

    /// How many frames before the end, at most, the first of these is.
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

    /// The same frames by numbers from 0: from the first, up to but without the last, and the step.
    /// `count` is the number of frames, where one of these counts from the end. `None` if there is
    /// no such frame.
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
            // A slice takes what there is.
            Self::Slice { start, end, step } => Some(Span {
                start: start.map_or(0, |start| from_end(start).unwrap_or(0)),
                end: end.map_or(u64::MAX, |end| from_end(end).unwrap_or(0)),
                step,
            }),
        }
    }
}

/// Frames by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The first one.
    pub(crate) start: u64,
    /// The one past the last, or later.
    pub(crate) end: u64,
    pub(crate) step: u64,
}

impl FromStr for Frames {
    type Err = String;

    /// `last`, `all`, a number, or `START:END` or `START:END:STEP` with any of these left out.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "must be a frame's number (from 0, or negative from the end), last, all, or a range \
             START:END or START:END:STEP, as in Python"
                .to_owned()
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
        let parts = text.split(':').map(number).collect::<Result<Vec<_>, _>>()?;
        match *parts {
            [Some(frame)] => Ok(Self::One(frame)),
            [start, end] => Ok(Self::Slice {
                start,
                end,
                step: 1,
            }),
            [start, end, step] => match u64::try_from(step.unwrap_or(1)) {
                Ok(step) if step > 0 => Ok(Self::Slice { start, end, step }),
                _ => Err("the step between frames must be 1 or more".into()),
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

    /// The frames of a trajectory of `count` that a text stands for.
    fn chosen(text: &str, count: u64) -> Vec<u64> {
        let frames: Frames = text.parse().unwrap();
        let Some(span) = frames.resolve(count) else {
            return Vec::new();
        };
        let all = (span.start..span.end.min(count)).step_by(usize::try_from(span.step).unwrap());
        all.collect()
    }

    /// The expected lists are those of `list(range(5))[...]` in Python.
    #[test]
    fn ranges_are_those_of_python() {
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
    fn what_names_no_frames_is_refused() {
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
    fn frames_are_shown_as_they_are_read() {
        for text in ["3", "-1", "all", "1:", ":-2", "1:4:3", "::2"] {
            assert_eq!(text.parse::<Frames>().unwrap().to_string(), text);
        }
    }
}
