//! Runs a test on the CPU and on the GPU backend. Without a graphics adapter, the GPU part fails, because a
//! skipped test proves nothing.

#![allow(
    dead_code,
    reason = "shared by several tests, each of which uses a part"
)]

use carom::{Backend, Detector, Options};

pub(crate) fn detector(backend: Backend, options: Options) -> Detector {
    match Detector::new(options.with_backend(backend)) {
        Ok(detector) => detector,
        Err(error) => panic!("this test needs the {backend:?} backend: {error}"),
    }
}

/// Calls `work` on a thread of a new rayon pool with this number of threads.
pub(crate) fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(work),
        Err(error) => panic!("the system lacks threads: {error}"),
    }
}

/// Calls `work` with a detector on the CPU and with a detector on the GPU (or a software adapter).
pub(crate) fn both<T>(mut work: impl FnMut(&mut Detector) -> T) -> [T; 2] {
    [Backend::Cpu, Backend::Gpu].map(|backend| work(&mut detector(backend, Options::default())))
}
