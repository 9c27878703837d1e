//! Statistics of a time step.

use std::time::Duration;

use crate::Backend;
use crate::exact::Grazing;

/// Counts and times of the work of one time step.
///
/// The path of a sphere that moves far is cut into 2ⁿ *time segments*, which take equal time. A *proxy* is a
/// sphere with an uncut path, or one time segment of a cut path. Each proxy is an entry of one of several
/// uniform grids, the *levels*. A *candidate* is a pair of proxies that are close enough in the grids to be
/// tested.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Statistics {
    /// Number of spheres, of both sets together if there are two.
    pub spheres: u64,
    /// Number of proxies: uncut spheres and time segments of cut spheres.
    pub proxies: u64,
    /// Number of levels (uniform grids) in use.
    pub levels: u32,
    /// Number of entries in the hash table of grid cells, for all grids together.
    pub slots: u64,
    /// Number of candidate pairs that were tested.
    pub candidates: u64,
    /// Number of pairs of spheres that touch during the step.
    pub pairs: u64,
    /// Number of grazing pairs: pairs, touching or not, that the first test (with integers on a GPU, in
    /// float32 on a software adapter, in float64 on the CPU) could not decide. They are too close to
    /// tangency, or to the end of a time segment or of the step, or have too many digits.
    ///
    /// Arithmetic of higher precision decides whether a grazing pair touches. A pair that needs
    /// this arithmetic only for its time of impact does not count as grazing.
    pub grazing: u64,
    /// Number of pairs that exact integer arithmetic decided, because float64 could not decide
    /// them.
    pub grazing_by_integers: u64,
    /// Working memory that the detector keeps for the next step, in bytes.
    ///
    /// On the CPU, `memory` does not include the caller's spheres, the returned list, and the memory in which
    /// the detector joins the two sets of a step. On a GPU, `memory` does not include the buffers of spheres
    /// and of pairs.
    pub memory: u64,
    /// The backend that did the step, never [`Backend::Auto`]. [`Backend::Gpu`] is a GPU, or a software adapter
    /// (a program that runs shaders on the CPU).
    pub backend: Backend,
    /// A sentence that says why this backend did the step.
    pub reason: String,
    /// Name of the GPU and graphics API, or `None` if the CPU did the step.
    pub adapter: Option<String>,
    /// Name and duration of each stage of the work, in order. With a GPU, the stages `upload`, `submit`, `wait`,
    /// `unpack` and `decide` run on the CPU. Those of the GPU follow `wait`, during which they run, and are left out
    /// if it has no timestamps.
    pub stages: Vec<(&'static str, Duration)>,
}

impl Default for Statistics {
    fn default() -> Self {
        Self {
            spheres: 0,
            proxies: 0,
            levels: 0,
            slots: 0,
            candidates: 0,
            pairs: 0,
            grazing: 0,
            grazing_by_integers: 0,
            memory: 0,
            backend: Backend::Cpu,
            reason: String::new(),
            adapter: None,
            stages: Vec::new(),
        }
    }
}

/// [`Statistics`] describes the fields.
#[derive(Debug, Default)]
pub(crate) struct StepOutcome {
    pub(crate) proxies: u64,
    pub(crate) levels: u32,
    pub(crate) slots: u64,
    pub(crate) candidates: u64,
    pub(crate) grazing: Grazing,
    pub(crate) memory: u64,
    pub(crate) stages: StageTimes,
}

pub(crate) type StageTimes = Vec<(&'static str, Duration)>;
