//! Runs the work of a step on the threads of a pool.

use std::panic::resume_unwind;
use std::thread;

use rayon::ThreadPool;

use crate::Error;

/// The threads that run a step: the detector's own pool, or for `None` the rayon pool of the
/// calling thread. A thread outside any pool then uses rayon's global pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads<'a>(pub(crate) Option<&'a ThreadPool>);

impl Threads<'_> {
    /// Largest number of items that the calling thread processes alone. It is done with so few
    /// items before another thread would wake up.
    const FEW: usize = 1024;

    /// Runs `work`, which processes `items` items, on these threads. If there are few items, the
    /// calling thread does all the work.
    pub(crate) fn run<R: Send>(
        self,
        items: usize,
        work: impl FnOnce() -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        match self.0 {
            _ if items <= Self::FEW => work(),
            Some(pool) => run_in(pool, work),
            // The scope moves the work to a thread of the pool once. Without it, each parallel loop
            // in the work would be moved separately.
            None => rayon::scope(|_| work()),
        }
    }
}

fn run_in<R: Send>(
    pool: &ThreadPool,
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    if rayon::current_thread_index().is_none() || pool.current_thread_index().is_some() {
        return pool.install(work);
    }
    // The calling thread belongs to another pool. If it called `install`, it would run other tasks
    // of its pool while it waits. Such a task may itself be a step: steps could then nest on one
    // stack without bound, or wait for a detector that is locked for this step. So a new thread
    // outside any pool calls `install`.
    thread::scope(|scope| {
        let waiting = thread::Builder::new().spawn_scoped(scope, || pool.install(work));
        let waiting = waiting.map_err(Error::threads)?;
        waiting.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}
