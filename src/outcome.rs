//! The result of a step on either backend, beside the pairs.

use std::time::Duration;

use crate::exact::Grazing;

/// Counts and times of a step.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Entries in the grids.
    pub(crate) proxies: u64,
    /// Grids in use, and slots of their table.
    pub(crate) levels: u32,
    pub(crate) slots: u64,
    /// Pairs that were tested.
    pub(crate) candidates: u64,
    /// Candidates that the float test left undecided.
    pub(crate) grazing: Grazing,
    /// Bytes of working memory.
    pub(crate) memory: u64,
    /// The time of each stage.
    pub(crate) stages: StageTimes,
}

/// Names of stages and their times, in order.
pub(crate) type StageTimes = Vec<(&'static str, Duration)>;
