//! Runs the CPU work of a time step on the threads of a pool.

use std::panic::resume_unwind;
use std::thread;

use rayon::ThreadPool;

use crate::Error;

/// Thread pool that runs a step: the detector's own pool, if there is one. `None` means the rayon
/// pool of the calling thread or, if it is in none, rayon's global pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads<'a>(pub(crate) Option<&'a ThreadPool>);

impl Threads<'_> {
    /// Largest number of items for which the calling thread works alone, because waking another
    /// thread takes longer.
    const FEW: usize = 1024;

    /// Runs `work` on the threads of the pool, or on the calling thread if there are few `items` to
    /// process.
    pub(crate) fn run<R: Send>(
        self,
        items: usize,
        work: impl FnOnce() -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        match self.0 {
            _ if items <= Self::FEW => work(),
            Some(pool) => run_in(pool, work),
            // The scope moves the whole work to a pool thread at once, instead of each parallel
            // loop separately.
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
    // The calling thread belongs to another rayon pool. While it waited, rayon would run other
    // tasks on it, such as another time step. That step would nest on the same stack, or wait for a
    // detector that this step has locked. So a new thread waits instead.
    thread::scope(|scope| {
        let waiting = thread::Builder::new().spawn_scoped(scope, || pool.install(work));
        let waiting = waiting.map_err(Error::threads)?;
        waiting.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}
