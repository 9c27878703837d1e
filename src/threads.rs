//! Runs the work of a step on the threads of a pool.

use std::panic::resume_unwind;
use std::thread;

use rayon::ThreadPool;

use crate::Error;

/// The threads that run a step. `Some` is the pool of the detector. `None` stands for the rayon
/// pool of the calling thread, or for rayon's global pool if the thread is outside any pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads<'a>(pub(crate) Option<&'a ThreadPool>);

impl Threads<'_> {
    /// Largest number of items that the calling thread processes by itself. It finishes the work on
    /// so few items before another thread would wake up.
    const FEW: usize = 1024;

    /// Runs `work`, which processes `items` items, on these threads, or on the calling thread if
    /// there are few items.
    pub(crate) fn run<R: Send>(
        self,
        items: usize,
        work: impl FnOnce() -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        match self.0 {
            _ if items <= Self::FEW => work(),
            Some(pool) => run_in(pool, work),
            // Like `ThreadPool::install`, `rayon::scope` moves the work to a thread of the pool
            // once. Without the scope, each parallel loop in the work would be moved separately.
            None => rayon::scope(|_| work()),
        }
    }
}

/// Runs `work` on the threads of `pool`, and waits for its result.
fn run_in<R: Send>(
    pool: &ThreadPool,
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    if rayon::current_thread_index().is_none() || pool.current_thread_index().is_some() {
        return pool.install(work);
    }
    // The calling thread is part of another pool. If it called `install`, it would run other tasks
    // of its pool while it waits. These tasks may be steps too: they could nest on one stack
    // without bound, or need a detector that is locked for this step. So a new thread, which is
    // outside any pool, calls `install` and waits.
    thread::scope(|scope| {
        let waiting = thread::Builder::new().spawn_scoped(scope, || pool.install(work));
        let waiting = waiting.map_err(Error::threads)?;
        waiting.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}
