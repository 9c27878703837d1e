//! Statistics of a step.

use std::time::Duration;

/// The backend that did a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ActiveBackend {
    /// A GPU, or a software adapter.
    Gpu,
    /// The CPU.
    #[default]
    Cpu,
}

/// Counts and times of the work of one step.
///
/// The fields use these terms. A *time segment* is one of 2ⁿ parts of a sphere's path that take
/// equal time. Only the path of a sphere that moves far is cut into segments. A *proxy* is an uncut
/// sphere, or one time segment of a cut sphere. Each proxy is an entry of one of several uniform
/// grids, the *levels*. A *candidate* is a pair of proxies that are close enough in the grids to be
/// tested.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Statistics {
    /// Number of spheres, of both sets together if there are two.
    pub spheres: u64,
    /// Number of proxies (uncut spheres, and time segments of cut spheres).
    pub proxies: u64,
    /// Number of levels (grids) in use.
    pub levels: u32,
    /// Number of entries in the hash table of grid cells, for all levels (grids) together.
    pub slots: u64,
    /// Number of candidate pairs that were tested.
    pub candidates: u64,
    /// Number of pairs that touch.
    pub pairs: u64,
    /// Number of pairs, touching or not, that are too close to tangency or to the end of a time
    /// segment for the first test.
    ///
    /// Arithmetic of higher precision decided these pairs. The first test uses float32 on a GPU and
    /// float64 on the CPU. A pair does not count if only its time of impact needed higher
    /// precision.
    pub grazing: u64,
    /// Number of pairs that float64 could not decide, so that exact integers decided them.
    pub grazing_by_integers: u64,
    /// Number of bytes of working memory that the detector keeps for the next step.
    ///
    /// On the CPU, this number excludes the caller's spheres, the detector's copy of two sets, and
    /// the returned list. On a GPU, it excludes the buffers of the spheres and the pairs.
    pub memory: u64,
    /// The backend that did the step.
    pub backend: ActiveBackend,
    /// A sentence that says why this backend did the step.
    pub reason: String,
    /// The GPU's name, as its driver reports it, with the graphics API. `None` if the CPU did the
    /// step.
    pub adapter: Option<String>,
    /// Name and duration of each stage, in the order in which the stages ran. A GPU without
    /// timestamps reports only the stages on the host.
    pub stages: Vec<(&'static str, Duration)>,
}
