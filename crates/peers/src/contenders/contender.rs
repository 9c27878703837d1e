//! What a benchmarked method does.

use std::sync::Arc;

use rayon::ThreadPool;

use crate::step::{Found, World};

pub(crate) trait Contender: Send {
    fn name(&self) -> &'static str;

    fn threads(&self) -> usize {
        1
    }

    /// Returns the pool of threads in which the benchmarked method runs, or `None` if it runs on the main
    /// thread.
    fn pool(&self) -> Option<Arc<ThreadPool>> {
        None
    }

    /// Returns why the benchmarked method does not run on the given spheres, or `None` if the method runs.
    /// This call is not timed.
    fn refusal(&self, _world: World<'_>) -> Option<String> {
        None
    }

    /// Makes the data that a simulation would have kept from the previous time step, such as a tree. This
    /// call is not timed.
    fn prepare(&mut self, _world: World<'_>) -> anyhow::Result<()> {
        Ok(())
    }

    /// Finds all pairs of spheres that touch during the time step. Only this call is timed, including the
    /// conversion of the spheres to the method's own format and the sort of the list of pairs.
    fn step(&mut self, world: World<'_>) -> anyhow::Result<Found>;
}

/// Largest estimated number of candidate pairs with which a benchmarked method runs. More candidates would
/// take minutes.
pub(super) const MOST_CANDIDATES: u64 = 1 << 33;
