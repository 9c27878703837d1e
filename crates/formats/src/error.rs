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
/// let input = Input::new("no-such-file.csv", None)?;
/// let error = read::open(&input, Frames::LAST, &ReadOptions::default(), &()).unwrap_err();
/// assert_eq!(error.to_string(), "cannot open no-such-file.csv");
/// assert!(error.source().unwrap().is::<std::io::Error>());
/// # Ok::<(), carom_formats::Error>(())
/// ```
pub struct Error(Box<Kind>);

enum Kind {
    Message {
        text: String,
        cause: Option<Cause>,
    },
    /// An error that nothing is added to. It counts as this error itself, and not as its source.
    Other(Cause),
}

/// The result of a reader or writer.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(Box::new(Kind::Message {
            text: text.into(),
            cause: None,
        }))
    }

    pub(crate) fn other(error: impl Into<Cause>) -> Self {
        Self(Box::new(Kind::Other(error.into())))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Message { text, .. } => f.write_str(text),
            Kind::Other(error) => error.fmt(f),
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
            Kind::Message { cause, .. } => cause.as_ref().map(|cause| &**cause as _),
            Kind::Other(error) => error.source(),
        }
    }
}

/// Adds a message to an error, which becomes the source of the new error.
pub(crate) trait Context<T> {
    fn with_context<S: Into<String>>(self, text: impl FnOnce() -> S) -> Result<T>;
}

impl<T, E: Into<Cause>> Context<T> for Result<T, E> {
    fn with_context<S: Into<String>>(self, text: impl FnOnce() -> S) -> Result<T> {
        self.map_err(|error| {
            Error(Box::new(Kind::Message {
                text: text().into(),
                cause: Some(error.into()),
            }))
        })
    }
}

/// Returns from a function with an error, which has a message like that of `format!`.
macro_rules! bail {
    ($($message:tt)*) => {
        return Err($crate::error::Error::new(format!($($message)*)))
    };
}
pub(crate) use bail;

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
