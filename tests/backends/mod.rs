//! Runs a test on both backends. Without a graphics adapter the GPU's part fails: a test that was
//! skipped silently would prove nothing.

#![allow(
    dead_code,
    reason = "shared by several tests, each of which uses a part"
)]

use carom::{Backend, Detector, Options};

/// Returns a detector on this backend. Panics if the backend is not available.
pub(crate) fn detector(backend: Backend, options: Options) -> Detector {
    match Detector::new(options.with_backend(backend)) {
        Ok(detector) => detector,
        Err(error) => panic!("this test needs the {backend:?} backend: {error}"),
    }
}

/// Does `work` on the CPU and on the GPU, and returns both results. The GPU may be a software
/// adapter.
pub(crate) fn both<T>(mut work: impl FnMut(&mut Detector) -> T) -> [T; 2] {
    [Backend::Cpu, Backend::Gpu].map(|backend| work(&mut detector(backend, Options::default())))
}
