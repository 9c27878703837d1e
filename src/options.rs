//! Options of a detector.

/// The backend (CPU or GPU) that a detector is to use. The default is [`Backend::Auto`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Backend {
    /// A hardware GPU if there is one, otherwise the CPU, which is faster than a software adapter.
    ///
    /// The CPU still does the steps that exceed the GPU's limits, and the steps that fail on the GPU: see
    /// [`Statistics::backend`](crate::Statistics::backend) and
    /// [`Statistics::reason`](crate::Statistics::reason).
    #[default]
    Auto,
    /// A hardware GPU if there is one, otherwise a software adapter, which runs shaders on the CPU. Without
    /// either, [`Detector::new`](crate::Detector::new) returns an error.
    Gpu,
    /// The CPU.
    Cpu,
}

/// Options of a [`Detector`](crate::Detector).
///
/// ```
/// use carom::{Backend, Options};
/// let options = Options::new().with_backend(Backend::Cpu).with_max_pairs(1_000_000);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub(crate) backend: Backend,
    pub(crate) max_candidates: u64,
    pub(crate) max_pairs: u64,
    pub(crate) checks: bool,
}

impl Options {
    /// Returns the default options.
    pub fn new() -> Self {
        Self {
            backend: Backend::Auto,
            max_candidates: 1 << 34,
            max_pairs: 1 << 28,
            checks: false,
        }
    }

    /// Sets the backend (CPU or GPU) that the detector is to use.
    #[must_use]
    pub fn with_backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// Sets the largest number of candidate pairs that a step may test. The default is 2³⁴.
    ///
    /// A step with more candidate pairs than this limit tests none of them, because the tests could take
    /// hours. It returns [`Error::TooManyCandidates`](crate::Error::TooManyCandidates).
    #[must_use]
    pub fn with_max_candidates(mut self, max_candidates: u64) -> Self {
        self.max_candidates = max_candidates;
        self
    }

    /// Sets the largest number of touching pairs that a step may have. The default is 2²⁸.
    ///
    /// A step with more touching pairs than this returns [`Error::TooManyPairs`](crate::Error::TooManyPairs),
    /// so that the list of collisions cannot fill the memory.
    #[must_use]
    pub fn with_max_pairs(mut self, max_pairs: u64) -> Self {
        self.max_pairs = max_pairs;
        self
    }

    /// Makes the CPU decide one in 1024 of the pairs again that a GPU has decided, as always in debug builds.
    ///
    /// If one is wrong because of an error of the GPU's driver, the step is done again, the CPU decides all pairs of this
    /// detector from then on, and the log says so.
    #[must_use]
    pub fn with_checks(mut self) -> Self {
        self.checks = true;
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}
