//! Counts and times of a time step, which a backend (CPU or GPU) returns with the pairs.

use std::time::Duration;

use crate::exact::Grazing;

/// Counts and times of a time step. [`Statistics`](crate::Statistics) describes the fields.
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
