//! Statistics of a step.

use std::time::Duration;

/// The backend that did the work.
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
/// The descriptions of the fields use these terms. A *time segment* is one of 2ⁿ equal parts in
/// time of a sphere's motion during the step. Only a sphere that moves far is cut into segments,
/// and n depends on the sphere. A *proxy* is an uncut sphere, or one time segment of a cut sphere.
/// Each proxy is an entry of one of several uniform grids, the *levels*. A *candidate* is a pair of
/// proxies that are close enough in the grids to be tested.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Statistics {
    /// Number of spheres, of both sets together if there are two.
    pub spheres: u64,
    /// Number of proxies: one for each uncut sphere, and one for each time segment of a cut
    /// sphere.
    pub proxies: u64,
    /// Number of levels (grids) in use.
    pub levels: u32,
    /// Number of slots (entries) in the table that lists the proxies of each cell, for all levels
    /// together. Each level has a box of cells with a slot each. The cells outside this box share
    /// slots.
    pub slots: u64,
    /// Number of candidates that were tested.
    pub candidates: u64,
    /// Number of pairs that touch.
    pub pairs: u64,
    /// Number of pairs, touching or not, that the swept test could not decide because they are
    /// too close to tangency or to the end of a time segment.
    ///
    /// Arithmetic of higher precision decided these pairs. The swept test uses float32 on a GPU
    /// and float64 on the CPU. A pair that the swept test decides does not count, even if
    /// its time of impact needed higher precision.
    pub grazing: u64,
    /// Number of grazing pairs that float64 could not decide either. Exact integers decided
    /// them.
    pub grazing_by_integers: u64,
    /// Number of bytes of working memory that the detector keeps for the next step.
    ///
    /// On the CPU, this number excludes the caller's spheres, the detector's copy of two sets, and
    /// the returned list. On a GPU, it is the size of the stages' buffers, without the buffers of
    /// the spheres and the pairs.
    pub memory: u64,
    /// The backend that did the work of the step.
    pub backend: ActiveBackend,
    /// Why this backend did the work, as a sentence.
    pub reason: String,
    /// The GPU's name, as its driver reports it, with the graphics API, or `None` if the CPU did
    /// the work.
    pub adapter: Option<String>,
    /// Name and duration of each stage, in the order in which the stages ran. A GPU without
    /// timestamps reports only the stages on the host.
    pub stages: Vec<(&'static str, Duration)>,
}
