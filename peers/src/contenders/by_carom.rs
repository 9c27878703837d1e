//! carom itself.

use std::time::{Duration, Instant};

use carom::{Backend, Detector, Options};

use super::Contender;
use crate::step::{Found, World};

/// How long threads are kept awake before a timed step.
const SPREAD: Duration = Duration::from_millis(40);

/// A detector on the CPU, kept from step to step.
pub(crate) struct Carom {
    detector: Detector,
    threads: usize,
}

impl Carom {
    /// One on so many threads.
    pub(crate) fn new(threads: usize) -> anyhow::Result<Self> {
        let detector = Detector::new(Options {
            backend: Backend::Cpu,
            threads,
            ..Options::default()
        })?;
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

    /// Steps before the timed one, where there are several threads: while a peer ran, they slept,
    /// and the system takes some milliseconds to spread them over the cores again.
    fn prepare(&mut self, world: World<'_>) -> anyhow::Result<()> {
        let start = Instant::now();
        while self.threads > 1 && start.elapsed() < SPREAD {
            self.step(world)?;
        }
        Ok(())
    }

    fn step(&mut self, world: World<'_>) -> anyhow::Result<Found> {
        let collisions = self.detector.detect(world.spheres, world.dt)?;
        Ok(Found {
            pairs: collisions.pairs,
            candidates: collisions.statistics.candidates,
        })
    }
}
