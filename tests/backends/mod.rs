//! Runs a test on the CPU backend and on the GPU backend. Without a graphics adapter, the GPU part
//! fails instead of being skipped, because a skipped test proves nothing.

#![allow(
    dead_code,
    reason = "shared by several tests, each of which uses a part"
)]

use carom::{Backend, Detector, Options};

/// Returns a detector on the given backend. Panics if the backend is not available.
pub(crate) fn detector(backend: Backend, options: Options) -> Detector {
    match Detector::new(options.with_backend(backend)) {
        Ok(detector) => detector,
        Err(error) => panic!("this test needs the {backend:?} backend: {error}"),
    }
}

/// Calls `work` with a detector on the CPU and with a detector on the GPU, and returns both
/// results. The GPU may be a software adapter.
pub(crate) fn both<T>(mut work: impl FnMut(&mut Detector) -> T) -> [T; 2] {
    [Backend::Cpu, Backend::Gpu].map(|backend| work(&mut detector(backend, Options::default())))
}
