//! The error type of the readers and writers, and what makes such errors in this crate.

use std::error::Error as StdError;
use std::fmt;

type Cause = Box<dyn StdError + Send + Sync>;

/// The error of a reader or writer.
///
/// The message of an invalid file names the file, the line (in an array, the row) and the field. If another
/// error is the cause, such as a [`std::io::Error`], it is the [source](StdError::source) of this error, and its
/// message is not part of this error's message. So a program for people prints the messages of the whole chain:
///
/// ```
/// use std::error::Error as _;
///
/// use carom_formats::read::{self, Frames, Input, ReadOptions};
///
/// let input = Input::new("no-such-file.csv", None);
/// let error = read::open(&input, Frames::LAST, &ReadOptions::default(), &()).unwrap_err();
/// assert_eq!(error.to_string(), "cannot open no-such-file.csv");
/// assert!(error.source().unwrap().is::<std::io::Error>());
/// # Ok::<(), carom_formats::Error>(())
/// ```
pub struct Error(Box<Inner>);

/// What an error is about, for programs that treat some errors in their own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file cannot be opened, read or written. The [source](StdError::source) of the error is a
    /// [`std::io::Error`].
    Io,
    /// The input ends too early, within a frame or an array. Frames before it are complete.
    CutOff,
    /// The input has a format, or a form of a format, that this crate does not read. The message says how to
    /// convert it.
    Unsupported,
    /// The input, or an option for it, is invalid, or the two do not fit.
    Invalid,
}

enum Inner {
    Message {
        text: String,
        cause: Option<Cause>,
        kind: ErrorKind,
    },
    /// An error that nothing is added to. It counts as this error itself, and not as its source.
    Other(Cause),
}

/// The result of a reader or writer.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self::of(ErrorKind::Invalid, text)
    }

    pub(crate) fn of(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self(Box::new(Inner::Message {
            text: text.into(),
            cause: None,
            kind,
        }))
    }

    /// Returns an error whose source is `cause`.
    pub(crate) fn caused(text: impl Into<String>, cause: impl Into<Cause>) -> Self {
        let cause = cause.into();
        Self(Box::new(Inner::Message {
            text: text.into(),
            kind: kind_of(&cause),
            cause: Some(cause),
        }))
    }

    pub(crate) fn other(error: impl Into<Cause>) -> Self {
        Self(Box::new(Inner::Other(error.into())))
    }

    /// Returns the same error with another kind.
    pub(crate) fn with_kind(mut self, new: ErrorKind) -> Self {
        if let Inner::Message { kind, .. } = &mut *self.0 {
            *kind = new;
        }
        self
    }

    /// Returns the same error with another sentence.
    pub(crate) fn and(mut self, sentence: &str) -> Self {
        if let Inner::Message { text, .. } = &mut *self.0 {
            let end = if text.ends_with('?') { "" } else { "." };
            text.push_str(&format!("{end} {sentence}"));
        }
        self
    }

    /// Returns the same error with the number of its frame, except in the first frame, which may be the only one.
    pub(crate) fn in_frame(mut self, number: u64) -> Self {
        if let Inner::Message { text, .. } = &mut *self.0
            && number > 0
        {
            text.push_str(&format!(" (frame {number})"));
        }
        self
    }

    /// Returns what the error is about.
    pub fn kind(&self) -> ErrorKind {
        match &*self.0 {
            Inner::Message { kind, .. } => *kind,
            Inner::Other(error) => kind_of(error),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Inner::Message { text, .. } => f.write_str(text),
            Inner::Other(error) => error.fmt(f),
        }
    }
}

/// Prints the messages of the error and its sources, because `main` and `unwrap` show errors in this form.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        let mut source = self.source();
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &*self.0 {
            Inner::Message { cause, .. } => cause.as_ref().map(|cause| &**cause as _),
            Inner::Other(error) => error.source(),
        }
    }
}

/// Adds a message to an error, which becomes the source of the new error.
pub(crate) trait Context<T> {
    fn with_context<S: Into<String>>(self, text: impl FnOnce() -> S) -> Result<T>;
}

impl<T, E: Into<Cause>> Context<T> for Result<T, E> {
    fn with_context<S: Into<String>>(self, text: impl FnOnce() -> S) -> Result<T> {
        self.map_err(|error| Error::caused(text(), error))
    }
}

fn kind_of(cause: &Cause) -> ErrorKind {
    if let Some(error) = cause.downcast_ref::<Error>() {
        error.kind()
    } else if cause.is::<std::io::Error>() {
        ErrorKind::Io
    } else {
        ErrorKind::Invalid
    }
}

/// Returns from a function with an error, which has a message like that of `format!`.
macro_rules! bail {
    ($($message:tt)*) => {
        return Err($crate::error::Error::new(format!($($message)*)))
    };
}
pub(crate) use bail;

/// Returns an error at a line or row.
pub(crate) fn at(source: &str, unit: &str, place: u64, what: &str) -> Error {
    Error::new(format!("{source}, {unit} {place}: {what}"))
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn errors_have_the_messages_of_their_causes() {
        let cause = || io::Error::from(io::ErrorKind::BrokenPipe);
        let failed: Result<(), _> = Err(cause());
        let failed = failed
            .with_context(|| "cannot write")
            .with_context(|| "no list");
        let error = failed.unwrap_err();
        assert_eq!(error.to_string(), "no list");
        assert_eq!(
            format!("{error:?}"),
            format!("no list: cannot write: {}", cause())
        );
        let inner = error.source().and_then(StdError::source);
        let inner = inner.and_then(<dyn StdError>::downcast_ref::<io::Error>);
        assert_eq!(inner.map(io::Error::kind), Some(io::ErrorKind::BrokenPipe));
        let other = Error::other(cause());
        assert_eq!(format!("{other:?}"), cause().to_string());
        assert!(other.source().is_none());
    }

    #[test]
    fn errors_pass_between_threads() {
        fn passes<T: Send + Sync + 'static>() {}
        passes::<Error>();
    }
}
