//! The clock that measures the time of each stage.

use std::time::Instant;

use crate::outcome::StageTimes;

/// Measures the times of stages that run one after the other.
pub(super) struct StageClock {
    times: StageTimes,
    begin: Instant,
}

impl StageClock {
    /// Starts the clock at the beginning of the first stage. `times` is the vector to which the
    /// durations are written. It is cleared, and its memory is reused.
    pub(super) fn start(mut times: StageTimes) -> Self {
        times.clear();
        Self {
            times,
            begin: Instant::now(),
        }
    }

    /// Records the end of the stage named `stage`, and with it the beginning of the next stage.
    pub(super) fn lap(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.times.push((stage, now - self.begin));
        self.begin = now;
    }

    /// Returns the name and the duration of each stage.
    pub(super) fn finish(self) -> StageTimes {
        self.times
    }
}
