//! Runs the CPU work of a time step in the rayon pool of the calling thread.

use crate::Error;

#[cfg(not(all(feature = "gpu", target_arch = "wasm32")))]
/// Up to this many items, waking another thread takes longer.
const FEW: usize = 1024;

/// In the rayon pool of the calling thread, or in the global one.
#[cfg(not(all(feature = "gpu", target_arch = "wasm32")))]
pub(crate) fn run<R: Send>(
    items: usize,
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    if items <= FEW {
        return work();
    }
    // Moves all of `work` to a thread of the pool at once, instead of each parallel loop in it.
    rayon::scope(|_| work())
}

/// In a browser, the objects of wgpu belong to one thread, so `work` cannot move to another as a whole. Its parallel loops
/// can.
#[cfg(all(feature = "gpu", target_arch = "wasm32"))]
pub(crate) fn run<R>(_items: usize, work: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    work()
}
