//! The time of each stage.

use std::time::Instant;

use crate::outcome::StageTimes;

/// Measures stages one after the other.
pub(super) struct StageClock {
    times: StageTimes,
    begin: Instant,
}

impl StageClock {
    /// Starts with the first stage. What is in `times` is dropped; its memory is used again.
    pub(super) fn start(mut times: StageTimes) -> Self {
        times.clear();
        Self {
            times,
            begin: Instant::now(),
        }
    }

    /// Ends a stage, and begins the next.
    pub(super) fn lap(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.times.push((stage, now - self.begin));
        self.begin = now;
    }

    /// The times of all stages.
    pub(super) fn finish(self) -> StageTimes {
        self.times
    }
}
