//! Runs asynchronous work from blocking functions.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::Error;

/// The way in which a step waits for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The thread blocks.
    Block,
    /// The future returns `Pending`, and the task is woken when the device has finished.
    #[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "only a GPU uses it"))]
    Await,
}

/// Runs a future to completion on this thread.
///
/// With [`Wait::Block`] a future is usually ready at its first poll. It is pending only while one
/// of wgpu's own futures is, and then this thread waits for it.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let mut work = pin!(work);
    // Polling first avoids the allocation that `finish` makes.
    match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => finish(work),
    }
}

#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
fn finish<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    pollster::block_on(work)
}

/// Returns an error: in a browser no thread may block. Without the GPU backend this is not called,
/// because no future is ever pending.
#[cfg(not(all(feature = "gpu", not(target_arch = "wasm32"))))]
fn finish<T>(_work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    Err(Error::device(
        "this thread must not block to wait for it (call `Detector::new_async` or \
         `Detector::detect_async` instead)",
    ))
}
