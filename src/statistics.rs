//! The work that a step took.

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

/// The work that a step took.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Statistics {
    /// Spheres in the world, of both sets if there are two.
    pub spheres: u64,
    /// Entries in the grids: one for each sphere, and one for each further time segment of
    /// a sphere that moves far.
    pub proxies: u64,
    /// Grids in use.
    pub levels: u32,
    /// Length of the grids' slot table: one slot for each cell within a grid's box, and
    /// slots that the cells outside share.
    pub slots: u64,
    /// Pairs of proxies that were tested.
    pub candidates: u64,
    /// Pairs that touch.
    pub pairs: u64,
    /// Pairs, touching or not, that the first test left open because they were too close
    /// to tangency or to the end of a time segment. More digits decided them. The first
    /// test is in float32 on a GPU and in float64 on the CPU. Pairs of which only the time
    /// took more digits do not count.
    pub grazing: u64,
    /// Grazing pairs that float64 left open too, so that exact integers decided them.
    pub grazing_by_integers: u64,
    /// Bytes of working memory kept for the next step, beyond the given spheres, the copy
    /// of two sets in one slice, and the returned list. On a GPU, bytes of the buffers of
    /// the stages.
    pub memory: u64,
    /// The backend that did the work.
    pub backend: ActiveBackend,
    /// Why that backend, in a sentence.
    pub reason: String,
    /// The GPU's name as its driver gives it, and the API; `None` on the CPU.
    pub adapter: Option<String>,
    /// Time of each stage, in the order in which the stages ran. A GPU without timestamps
    /// reports only the stages on the host.
    pub stages: Vec<(&'static str, Duration)>,
}
