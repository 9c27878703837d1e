//! The clock that measures the time of each stage.

use std::time::Instant;

use crate::outcome::StageTimes;

/// Measures the times of stages that run one after the other.
pub(super) struct StageClock {
    times: StageTimes,
    begin: Instant,
}

impl StageClock {
    /// Starts the clock with the first stage. Clears `times` and reuses its memory.
    pub(super) fn start(mut times: StageTimes) -> Self {
        times.clear();
        Self {
            times,
            begin: Instant::now(),
        }
    }

    /// Ends a stage and begins the next one.
    pub(super) fn lap(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.times.push((stage, now - self.begin));
        self.begin = now;
    }

    /// Returns the times of all stages.
    pub(super) fn finish(self) -> StageTimes {
        self.times
    }
}
