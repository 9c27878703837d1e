//! Runs the CPU work of a time step in the rayon pool of the calling thread.

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
