//! Runs the CPU work of a time step in the rayon pool of the calling thread.

use std::panic::resume_unwind;
use std::thread;

use rayon::ThreadPool;

use crate::Error;

/// Largest number of items for which the calling thread works alone, because waking another thread
/// takes longer.
const FEW: usize = 1024;

/// Runs `work` in the rayon pool of the calling thread or, if it is in none, in rayon's global pool.
/// If there are few `items` to process, the calling thread works alone.
pub(crate) fn run<R: Send>(
    items: usize,
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    if items <= FEW {
        return work();
    }
    // `rayon::scope` moves the whole of `work` to a thread of rayon's pool at once. Without it, each
    // parallel loop in `work` would be moved there separately.
    rayon::scope(|_| work())
}

/// The thread pool of a simulation, if it has one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Threads<'a>(pub(crate) Option<&'a ThreadPool>);

impl Threads<'_> {
    /// Runs `work` on the threads of the pool, or as [`run`] does.
    pub(crate) fn run<R: Send>(
        self,
        items: usize,
        work: impl FnOnce() -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        match self.0 {
            Some(pool) if items > FEW => run_in(pool, work),
            _ => run(items, work),
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
    // The calling thread belongs to another rayon pool. If it waited for `pool` itself, rayon would
    // meanwhile run other tasks on this thread, such as a second time step. The second step would
    // nest on the same stack, or wait for a detector that the first step has locked. So the calling
    // thread starts a new thread, which waits for `pool`.
    thread::scope(|scope| {
        let waiting = thread::Builder::new().spawn_scoped(scope, || pool.install(work));
        let waiting = waiting.map_err(Error::threads)?;
        waiting.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}
