//! Runs a test on the CPU and on the GPU backend. Without a graphics adapter, the GPU part fails, because a
//! skipped test proves nothing.

#![allow(
    dead_code,
    reason = "shared by several tests, each of which uses a part"
)]

use std::sync::Mutex;

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

/// Calls `work` with a detector on the CPU and with a detector on the GPU (or a software adapter). The latter may have
/// served before, because a software adapter takes seconds to compile the shaders.
pub(crate) fn both<T>(mut work: impl FnMut(&mut Detector) -> T) -> [T; 2] {
    static IDLE: Mutex<Vec<Detector>> = Mutex::new(Vec::new());
    let on_cpu = work(&mut detector(Backend::Cpu, Options::default()));
    let idle = IDLE.lock().ok().and_then(|mut idle| idle.pop());
    let mut gpu = idle.unwrap_or_else(|| detector(Backend::Gpu, Options::default()));
    let on_gpu = work(&mut gpu);
    if let Ok(mut idle) = IDLE.lock() {
        idle.push(gpu);
    }
    [on_cpu, on_gpu]
}
