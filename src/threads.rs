//! Runs the CPU work of a time step on the threads of a pool.

use std::panic::resume_unwind;
use std::thread;

use rayon::ThreadPool;

use crate::Error;

/// Threads that run a step: the detector's own pool, or for `None` the rayon pool of the calling thread, or
/// else rayon's global pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads<'a>(pub(crate) Option<&'a ThreadPool>);

impl Threads<'_> {
    /// Largest number of items that the calling thread processes alone, in less time than it takes to wake
    /// another thread.
    const FEW: usize = 1024;

    /// Runs `work`, which processes `items` items, on the threads of the pool, or if there are few items on
    /// the calling thread.
    pub(crate) fn run<R: Send>(
        self,
        items: usize,
        work: impl FnOnce() -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        match self.0 {
            _ if items <= Self::FEW => work(),
            Some(pool) => run_in(pool, work),
            // The rayon scope moves the whole work to a pool thread at once, instead of each parallel loop
            // separately.
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
    // The calling thread belongs to another rayon pool. If it waited for the work, it would meanwhile run
    // other tasks of its pool, such as another time step. So steps would nest on one stack or wait for a
    // detector that this step has locked. A new thread outside all pools waits for the work instead.
    thread::scope(|scope| {
        let waiting = thread::Builder::new().spawn_scoped(scope, || pool.install(work));
        let waiting = waiting.map_err(Error::threads)?;
        waiting.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}
