//! Options of a detector.

/// The backend (CPU or GPU) that a detector is to use. The default is [`Backend::Auto`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Backend {
    /// A hardware GPU if there is one, otherwise the CPU, which is faster than a software adapter.
    ///
    /// The CPU still does the steps in periodic domains, the steps that exceed the GPU's limits, and the
    /// steps that fail on the GPU: see [`Statistics::backend`](crate::Statistics::backend) and
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
/// let options = Options::new().with_backend(Backend::Cpu).with_threads(2);
/// assert_eq!(options.threads, 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The backend (CPU or GPU) that the detector is to use.
    pub backend: Backend,
    /// Number of CPU threads that a detector uses. The CPU does a part of each step even if the backend is a
    /// GPU.
    ///
    /// If `threads` is 0, the default, the detector uses the rayon pool of the calling thread, or
    /// rayon's global pool if the calling thread is in no pool. If `threads` is any other number,
    /// the detector starts a rayon pool of its own. A step with at most 1024 spheres and time
    /// segments ([`Statistics::proxies`](crate::Statistics::proxies)) runs on the calling thread
    /// alone.
    ///
    /// If you run the steps of many worlds in rayon tasks, leave `threads` at 0. With any other
    /// number, each of these steps starts an extra thread, which waits for the detector's pool.
    ///
    /// With `threads` at 0, rayon may run another of your tasks on the same thread while a step
    /// waits. So a task must not hold a lock or a `RefCell` borrow during a step if your other
    /// tasks need it.
    pub threads: usize,
    /// Largest number of candidate pairs that a step may test. The default is 2³⁴.
    ///
    /// A step with more candidate pairs than this limit tests none of them, because the tests could take
    /// hours. It returns [`Error::TooManyCandidates`](crate::Error::TooManyCandidates).
    pub max_candidates: u64,
    /// Largest number of touching pairs that a step may have. The default is 2²⁸.
    ///
    /// A step with more touching pairs than this returns [`Error::TooManyPairs`](crate::Error::TooManyPairs),
    /// so that the list of collisions cannot fill the memory.
    pub max_pairs: u64,
}

impl Options {
    /// Returns the default options.
    pub fn new() -> Self {
        Self {
            backend: Backend::Auto,
            threads: 0,
            max_candidates: 1 << 34,
            max_pairs: 1 << 28,
        }
    }

    /// Returns the same options with this [`backend`](Self::backend).
    #[must_use]
    pub fn with_backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// Returns the same options with this number of [`threads`](Self::threads).
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Returns the same options with this [limit of candidate pairs](Self::max_candidates).
    #[must_use]
    pub fn with_max_candidates(mut self, max_candidates: u64) -> Self {
        self.max_candidates = max_candidates;
        self
    }

    /// Returns the same options with this [limit of touching pairs](Self::max_pairs).
    #[must_use]
    pub fn with_max_pairs(mut self, max_pairs: u64) -> Self {
        self.max_pairs = max_pairs;
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}
