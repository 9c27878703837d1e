//! Runs the CPU work of a time step in the rayon pool of the calling thread.

use std::env;
use std::error::Error as _;
use std::sync::OnceLock;
use std::thread::available_parallelism;

use rayon::ThreadPoolBuilder;

use crate::Error;

/// Up to this many items, waking another thread takes longer.
#[cfg(not(all(feature = "gpu", target_arch = "wasm32")))]
const FEW: usize = 1024;

/// The most threads of rayon's global pool, if carom starts it and the machine has fewer processors. Tens of thousands
/// would need minutes to start.
const MOST_THREADS: usize = 1024;

/// In the rayon pool of the calling thread, or in the global one.
#[cfg(not(all(feature = "gpu", target_arch = "wasm32")))]
pub(crate) fn run<R: Send>(
    items: usize,
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    ready()?;
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

/// Starts rayon's global pool, unless the calling thread belongs to a pool. If the system refuses the threads, the calling
/// thread becomes a pool by itself: without a pool, rayon would panic.
pub(crate) fn ready() -> Result<(), Error> {
    static STARTED: OnceLock<bool> = OnceLock::new();
    // In WebAssembly, rayon does this by itself.
    if cfg!(target_family = "wasm") || rayon::current_thread_index().is_some() {
        return Ok(());
    }
    if *STARTED.get_or_init(start) {
        return Ok(());
    }
    let alone = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    // The thread stays in the pool until it ends.
    std::mem::forget(alone.build().map_err(Error::threads)?);
    Ok(())
}

/// Returns whether rayon has a global pool.
fn start() -> bool {
    let most = available_parallelism().map_or(MOST_THREADS, |cores| cores.get().max(MOST_THREADS));
    let wanted =
        ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"].map(|name| env::var(name).ok()?.parse().ok());
    let wanted = wanted
        .into_iter()
        .flatten()
        .find(|&wanted: &usize| wanted > 0);
    let mut builder = ThreadPoolBuilder::new();
    if let Some(wanted) = wanted.filter(|&wanted| wanted > most) {
        log::warn!("carom starts {most} threads, not {wanted}, which would take too long");
        builder = builder.num_threads(most);
    }
    match builder.build_global() {
        Ok(()) => true,
        Err(error) => {
            // If the program has started the pool before, the error has no cause.
            let exists = error.source().is_none();
            if !exists {
                log::warn!(
                    "carom works on the calling thread alone, because no threads could be started: {error}"
                );
            }
            exists
        }
    }
}
