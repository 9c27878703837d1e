//! Counts and times of a step that a backend returns together with the pairs. The detector makes
//! [`Statistics`](crate::Statistics) from them.

use std::time::Duration;

use crate::exact::Grazing;

/// Counts and times of a step. [`Statistics`](crate::Statistics) describes the fields.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Number of proxies: uncut spheres, and time segments of cut spheres.
    pub(crate) proxies: u64,
    /// Number of levels (grids) in use.
    pub(crate) levels: u32,
    /// Number of slots in the slot table of all levels.
    pub(crate) slots: u64,
    /// Number of candidates that were tested.
    pub(crate) candidates: u64,
    /// Numbers of grazing pairs. These pairs, touching or not, are too close to tangency or to the
    /// end of a time segment for the swept test to decide. The swept test uses float32 on a GPU and
    /// float64 on the CPU.
    pub(crate) grazing: Grazing,
    /// Number of bytes of working memory that the backend keeps for the next step.
    pub(crate) memory: u64,
    /// Name and duration of each stage.
    pub(crate) stages: StageTimes,
}

/// Names and durations of stages, in the order in which they ran.
pub(crate) type StageTimes = Vec<(&'static str, Duration)>;
