//! Measures the time of each stage of a step.

use crate::clock::Instant;
use crate::statistics::StageTimes;

pub(super) struct StageClock {
    times: StageTimes,
    begin: Instant,
}

impl StageClock {
    pub(super) fn start(mut times: StageTimes) -> Self {
        times.clear();
        Self {
            times,
            begin: Instant::now(),
        }
    }

    pub(super) fn lap(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.times.push((stage, now - self.begin));
        self.begin = now;
    }

    pub(super) fn finish(self) -> StageTimes {
        self.times
    }
}
