//! Errors on which all ranks agree.

use carom::ErrorKind;

/// An error of a call of all ranks. Every rank gets the same one, whichever of them has the fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    message: String,
    kind: ErrorKind,
    sphere: Option<u64>,
}

impl Error {
    /// Returns what the error is about.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the global index of the sphere that the error is about, if it is about one.
    pub fn sphere(&self) -> Option<u64> {
        self.sphere
    }

    /// `index` replaces the index within a part of the spheres.
    pub(crate) fn of(mut error: carom::Error, index: impl Fn(usize) -> u64) -> Self {
        let kind = error.kind();
        let mut sphere = None;
        if let carom::Error::InvalidSphere { index: own, .. }
        | carom::Error::ImageOutOfRange { index: own, .. } = &mut error
        {
            let global = index(*own);
            sphere = Some(global);
            *own = usize::try_from(global).unwrap_or(usize::MAX);
        }
        Self {
            message: error.to_string(),
            kind,
            sphere,
        }
    }

    /// An error about the input.
    pub fn input(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            kind: ErrorKind::Input,
            sphere: None,
        }
    }

    pub(crate) fn memory(bytes: usize) -> Self {
        Self {
            message: format!(
                "out of memory: {bytes} bytes could not be allocated on one of the ranks; use more machines"
            ),
            kind: ErrorKind::Limit,
            sphere: None,
        }
    }

    /// Numbers and a text, to send the error to other ranks. The first number is the order of errors.
    pub(crate) fn to_parts(&self, rank: u64) -> ([u64; 2], &str) {
        let kind = match self.kind {
            ErrorKind::Limit => 1,
            ErrorKind::Device => 2,
            ErrorKind::Misuse => 3,
            _ => 0,
        };
        let order = self.sphere.unwrap_or(u64::MAX / 2 + rank);
        ([order.min(u64::MAX - 1), kind], &self.message)
    }

    pub(crate) fn from_parts([order, kind]: [u64; 2], message: String) -> Self {
        Self {
            message,
            kind: match kind {
                1 => ErrorKind::Limit,
                2 => ErrorKind::Device,
                3 => ErrorKind::Misuse,
                _ => ErrorKind::Input,
            },
            sphere: (order < u64::MAX / 2).then_some(order),
        }
    }
}
