//! Defines [`Cause`], which wraps the error of another library.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The error of another library that led to an [`Error`](crate::Error).
///
/// A `Cause` dereferences to the wrapped error. [`Error::source`](std::error::Error::source)
/// returns it too, for callers that downcast it. Two causes are equal if their messages are equal.
#[derive(Clone)]
pub struct Cause(Arc<dyn std::error::Error + Send + Sync>);

impl Cause {
    pub(crate) fn new(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }
}

// `Cause` does not implement `std::error::Error`, so that `Error::source` returns the wrapped error instead
// of the `Cause`.
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
