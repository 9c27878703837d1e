//! The two backends, to run the same on both. Without an adapter the GPU's part fails: a test that
//! passes by skipping would say nothing.

#![allow(
    dead_code,
    reason = "shared by several tests, each of which uses a part"
)]

use carom::{Backend, Detector, Options};

/// A detector on this backend, and no other.
pub(crate) fn detector(backend: Backend, options: Options) -> Detector {
    match Detector::new(options.with_backend(backend)) {
        Ok(detector) => detector,
        Err(error) => panic!("this test needs the {backend:?} backend: {error}"),
    }
}

/// What a piece of work comes to on the CPU and on the GPU, whatever software it may be.
pub(crate) fn both<T>(mut work: impl FnMut(&mut Detector) -> T) -> [T; 2] {
    [Backend::Cpu, Backend::Gpu].map(|backend| work(&mut detector(backend, Options::default())))
}
