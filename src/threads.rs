//! Runs the work of a step on the threads of a pool.

use std::panic::resume_unwind;
use std::thread;

use rayon::ThreadPool;

use crate::Error;

/// The threads of a detector's own pool. With `None`, the threads of rayon's pool of the caller,
/// or of rayon's global pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads<'a>(pub(crate) Option<&'a ThreadPool>);

impl Threads<'_> {
    /// Work on this many items is finished before another thread would wake up.
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
            // Like `install`, this moves the work to a thread of the pool once. Without it, each
            // parallel loop would move separately.
            None => rayon::scope(|_| work()),
        }
    }
}

/// Runs `work` in a pool, and waits for its result.
fn run_in<R: Send>(
    pool: &ThreadPool,
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    if rayon::current_thread_index().is_none() || pool.current_thread_index().is_some() {
        return pool.install(work);
    }
    // The calling thread is part of another pool. In `install` it would run other tasks of that
    // pool while it waits. These tasks may be steps too: they could nest on one stack without
    // bound, or need a detector that is locked for this step. So a thread outside any pool waits.
    thread::scope(|scope| {
        let waiting = thread::Builder::new().spawn_scoped(scope, || pool.install(work));
        let waiting = waiting.map_err(Error::threads)?;
        waiting.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}
