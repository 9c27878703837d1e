//! Options of a detector.

/// The backend that a detector is to use. The default is [`Backend::Auto`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Backend {
    /// A hardware GPU if there is one, otherwise the CPU, which is faster than a software adapter.
    /// The CPU also does the steps that exceed the GPU's limits or that the GPU fails to finish.
    /// For each step, [`Statistics::backend`](crate::Statistics::backend) is the backend that did
    /// it, and [`Statistics::reason`](crate::Statistics::reason) says why.
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
    /// The backend that the detector is to use.
    pub backend: Backend,
    /// Number of threads for the CPU backend, and for the stages on the host in a step on a GPU.
    ///
    /// With 0, the default, the rayon pool of the calling thread does the work. A thread outside
    /// any pool uses rayon's global pool, which has one thread per core. With any other number, the
    /// detector has a pool of its own. A step of up to 1024 spheres, counting time segments
    /// ([`Statistics::proxies`](crate::Statistics::proxies)), runs on the calling thread. Such a
    /// step starts rayon's global pool too, but the pool's threads sleep.
    ///
    /// To run the steps of many worlds in parallel in rayon tasks, leave this number at 0. A
    /// detector with a pool of its own blocks the thread of the task in each step of more than 1024
    /// spheres, and starts another thread to wait for the pool. With 0, rayon may run other tasks
    /// on the thread while the step waits. Do not hold a lock, or a borrow of a `RefCell`, across a
    /// step if another task needs the same one.
    pub threads: usize,
    /// Largest number of candidate pairs of a step. The default is 2³⁴.
    ///
    /// A step with more candidates returns
    /// [`Error::TooManyCandidates`](crate::Error::TooManyCandidates) before any of them is tested,
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
