//! Defines [`Cause`]: the error of another library that led to an [`Error`](crate::Error).

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The error of another library that led to an [`Error`](crate::Error).
///
/// A cause dereferences to the error of the other library.
/// [`Error::source`](std::error::Error::source) also returns that error, so callers can downcast
/// it. Two causes are equal if their messages are equal.
#[derive(Clone)]
pub struct Cause(Arc<dyn std::error::Error + Send + Sync>);

impl Cause {
    /// Wraps the error of another library.
    pub(crate) fn new(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }
}

// `Cause` does not implement `std::error::Error`. So `Error::source` returns the wrapped error,
// which callers can downcast.
impl Deref for Cause {
    type Target = dyn std::error::Error + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}
