//! Measures the time of each stage of a step.

use crate::clock::Instant;
use crate::statistics::StageTimes;

pub(crate) struct StageClock {
    times: StageTimes,
    begin: Instant,
}

impl StageClock {
    pub(crate) fn start(mut times: StageTimes) -> Self {
        times.clear();
        Self {
            times,
            begin: Instant::now(),
        }
    }

    pub(crate) fn lap(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.times.push((stage, now - self.begin));
        self.begin = now;
    }

    /// Of other work, during the last lap.
    #[cfg(feature = "gpu")]
    pub(crate) fn add(&mut self, stages: StageTimes) {
        self.times.extend(stages);
    }

    pub(crate) fn finish(self) -> StageTimes {
        self.times
    }
}
