//! What a backend tells of a step beside its pairs: the counts and times from which the
//! detector makes [`Statistics`](crate::Statistics).

use std::time::Duration;

use crate::exact::Grazing;

/// Counts and times of a step.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Entries in the grids: spheres, or time segments of them.
    pub(crate) proxies: u64,
    /// Grids in use.
    pub(crate) levels: u32,
    /// Length of the grids' slot table.
    pub(crate) slots: u64,
    /// Pairs of proxies that were tested.
    pub(crate) candidates: u64,
    /// Pairs, touching or not, that the first test left open because they were too close to
    /// tangency or to the end of a time segment. The first test is in float32 on a GPU and in
    /// float64 on the CPU.
    pub(crate) grazing: Grazing,
    /// Bytes of working memory.
    pub(crate) memory: u64,
    /// The time of each stage.
    pub(crate) stages: StageTimes,
}

/// Names of stages and their times, in order.
pub(crate) type StageTimes = Vec<(&'static str, Duration)>;
