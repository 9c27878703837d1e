//! What a backend hands back beside the pairs.

use std::time::Duration;

use crate::exact::Grazing;

/// What a step came to, on either backend.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Entries in the grids.
    pub(crate) proxies: u64,
    /// Grids in use, and slots of their table.
    pub(crate) levels: u32,
    pub(crate) slots: u64,
    /// Pairs that were tested.
    pub(crate) candidates: u64,
    /// Those that the test left open.
    pub(crate) grazing: Grazing,
    /// Bytes of working memory.
    pub(crate) memory: u64,
    pub(crate) stages: StageTimes,
}

/// The time of each stage.
pub(crate) type StageTimes = Vec<(&'static str, Duration)>;
