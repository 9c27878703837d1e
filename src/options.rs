//! Options of a detector.

/// The backend that a detector is to use. The default is [`Backend::Auto`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Backend {
    /// A hardware GPU if there is one, otherwise the CPU, which is faster than a software adapter.
    /// The CPU also does the steps that exceed the GPU's limits or that the GPU fails to finish.
    /// [`Statistics::backend`](crate::Statistics::backend) tells which backend did a step, and
    /// [`Statistics::reason`](crate::Statistics::reason) why.
    #[default]
    Auto,
    /// A hardware GPU if there is one, otherwise a software adapter, which runs shaders on the CPU.
    /// Without either, [`Detector::new`](crate::Detector::new) returns an error.
    Gpu,
    /// The CPU.
    Cpu,
}

/// Options of a [`Detector`](crate::Detector). The defaults suit most worlds.
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
    /// Number of threads for the work on the CPU. The CPU also does a part of each step on a GPU.
    ///
    /// With 0, the default, the rayon pool of the calling thread does the work, or rayon's global
    /// pool if the thread is in no pool. With any other number, the detector has a pool of its own.
    /// A step of up to 1024 spheres, counting time segments
    /// ([`Statistics::proxies`](crate::Statistics::proxies)), runs on the calling thread.
    ///
    /// To run the steps of many worlds in parallel in rayon tasks, leave this number at 0. Rayon
    /// may then run other tasks on a thread whose step waits. So do not hold a lock, or a borrow of
    /// a `RefCell`, across a step if another task needs it. A detector with a pool of its own would
    /// block the task's thread instead, and start another thread to wait.
    pub threads: usize,
    /// Largest number of candidate pairs of a step. The default is 2³⁴.
    ///
    /// A step with more candidates returns
    /// [`Error::TooManyCandidates`](crate::Error::TooManyCandidates) and tests none of them,
    /// because testing all of them could take hours.
    pub max_candidates: u64,
    /// Largest number of touching pairs of a step. The default is 2²⁸.
    ///
    /// A step with more pairs returns [`Error::TooManyPairs`](crate::Error::TooManyPairs), so that
    /// the list of collisions cannot fill the memory.
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

    /// Returns the same options with this [limit of candidates](Self::max_candidates).
    #[must_use]
    pub fn with_max_candidates(mut self, max_candidates: u64) -> Self {
        self.max_candidates = max_candidates;
        self
    }

    /// Returns the same options with this [limit of pairs](Self::max_pairs).
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
