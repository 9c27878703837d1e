//! The threads that do the work.

use std::panic::resume_unwind;
use std::thread;

use rayon::ThreadPool;

use crate::Error;

/// The threads of a pool, or rayon's own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads<'a>(pub(crate) Option<&'a ThreadPool>);

impl Threads<'_> {
    /// Items that are done before another thread is awake.
    const FEW: usize = 1024;

    /// Does work on `items` items on these threads, or on the caller's if they are few.
    pub(crate) fn run<R: Send>(
        self,
        items: usize,
        work: impl FnOnce() -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        match self.0 {
            _ if items <= Self::FEW => work(),
            Some(pool) => run_in(pool, work),
            // As `install` does: moves to a thread of the pool once, and not in every loop.
            None => rayon::scope(|_| work()),
        }
    }
}

/// Does work in a pool, and waits for it.
fn run_in<R: Send>(
    pool: &ThreadPool,
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    if rayon::current_thread_index().is_none() || pool.current_thread_index().is_some() {
        return pool.install(work);
    }
    // The caller is a thread of another pool. `install` would let it run that pool's tasks while
    // it waits, which may be steps as well: one within the other without end, on one stack, or
    // of a detector that is locked for this one. So a thread waits that is of no pool.
    thread::scope(|scope| {
        let waiting = thread::Builder::new().spawn_scoped(scope, || pool.install(work));
        let waiting = waiting.map_err(|error| Error::Threads(error.to_string()))?;
        waiting.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}
