//! carom's CPU backend as one of the benchmarked methods.

use std::sync::Arc;

use carom::{Backend, Detector, Options, Step};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::contender::Contender;
use crate::step::{Found, World};

/// The same detector runs all time steps of the benchmark.
pub(crate) struct Carom {
    detector: Detector,
    pool: Arc<ThreadPool>,
}

impl Carom {
    pub(crate) fn new(threads: usize) -> anyhow::Result<Self> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        Ok(Self {
            detector: Detector::new(Options::new().with_backend(Backend::Cpu))?,
            pool: Arc::new(pool),
        })
    }
}

impl Contender for Carom {
    fn name(&self) -> &'static str {
        "carom"
    }

    fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    fn pool(&self) -> Option<Arc<ThreadPool>> {
        Some(self.pool.clone())
    }

    fn step(&mut self, world: World<'_>) -> anyhow::Result<Found> {
        let collisions = self.detector.detect(&Step::new(world.spheres, world.dt))?;
        Ok(Found {
            pairs: collisions.pairs.into_parts().0,
            candidates: collisions.statistics.candidates,
        })
    }
}
