//! How a detector works.

/// The backend that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Backend {
    /// A hardware GPU if there is one, else the CPU: the CPU is faster than a software
    /// adapter. The CPU also takes the steps that the GPU cannot hold or fails to finish.
    /// [`Statistics::backend`](crate::Statistics::backend) and
    /// [`Statistics::reason`](crate::Statistics::reason) tell which backend did the work,
    /// and why.
    #[default]
    Auto,
    /// A GPU, or a software adapter if there is no GPU; an error if there is neither.
    Gpu,
    /// The CPU.
    Cpu,
}

/// How a [`Detector`](crate::Detector) works. The defaults suit most worlds.
///
/// ```
/// use carom::{Backend, Options};
/// let options = Options::new().with_backend(Backend::Cpu).with_threads(2);
/// assert_eq!(options.threads, 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The backend to use.
    pub backend: Backend,
    /// Number of threads of the CPU backend. With 0, the default, the rayon pool in which
    /// the caller runs does the work, or else rayon's global pool, which has one thread
    /// per core. Worlds of up to 1024 spheres, time segments counted, run on the caller's
    /// thread; rayon's global pool is started all the same, and sleeps.
    ///
    /// Leave it at 0 to step many worlds at once in rayon tasks. In each step of more than
    /// 1024 spheres, a detector with threads of its own blocks the thread of the task, and
    /// starts another thread to wait for its pool. With 0, rayon may run other tasks on
    /// the thread while it waits, as rayon always does: a task must not hold a lock, or
    /// borrow from a `RefCell`, across a step if other tasks want the same.
    pub threads: usize,
    /// Largest number of candidate pairs. A step with more is refused with
    /// [`Error::TooManyCandidates`](crate::Error::TooManyCandidates) before any pair is
    /// tested, instead of keeping the machine busy for hours. 2³⁴ by default.
    pub max_candidates: u64,
    /// Largest number of pairs that touch. A step with more is refused with
    /// [`Error::TooManyPairs`](crate::Error::TooManyPairs) instead of filling the memory.
    /// 2²⁸ by default.
    pub max_pairs: u64,
}

impl Options {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            backend: Backend::Auto,
            threads: 0,
            max_candidates: 1 << 34,
            max_pairs: 1 << 28,
        }
    }

    /// The same with this [`backend`](Self::backend).
    #[must_use]
    pub fn with_backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// The same with this number of [`threads`](Self::threads).
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// The same with this [limit of candidates](Self::max_candidates).
    #[must_use]
    pub fn with_max_candidates(mut self, max_candidates: u64) -> Self {
        self.max_candidates = max_candidates;
        self
    }

    /// The same with this [limit of pairs](Self::max_pairs).
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
