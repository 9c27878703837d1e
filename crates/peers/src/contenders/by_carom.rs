//! carom's CPU backend as one of the benchmarked methods.

use carom::{Backend, Detector, Options, Step};

use super::Contender;
use crate::step::{Found, World};

/// The same detector runs all time steps of the benchmark.
pub(crate) struct Carom {
    detector: Detector,
    threads: usize,
}

impl Carom {
    pub(crate) fn new(threads: usize) -> anyhow::Result<Self> {
        let detector = Detector::new(
            Options::new()
                .with_backend(Backend::Cpu)
                .with_threads(threads),
        )?;
        Ok(Self { detector, threads })
    }
}

impl Contender for Carom {
    fn name(&self) -> &'static str {
        "carom"
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn step(&mut self, world: World<'_>) -> anyhow::Result<Found> {
        let collisions = self.detector.detect(&Step::new(world.spheres, world.dt))?;
        Ok(Found {
            pairs: collisions.pairs.into_parts().0,
            candidates: collisions.statistics.candidates,
        })
    }
}
