//! Runs asynchronous work to completion from blocking functions.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::Error;

/// The way in which a step waits for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The thread blocks until the device has finished.
    Block,
    /// The future of the step returns `Pending`, and its task is woken when the device has
    /// finished.
    #[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "only a GPU uses it"))]
    Await,
}

/// Runs a future to completion on this thread.
///
/// A step that waits with [`Wait::Block`] blocks inside the first poll of its future, so the future
/// is usually ready after this poll. It is pending only if one of wgpu's own futures is pending.
/// This thread then blocks until that future is ready.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let mut work = pin!(work);
    // A future that is ready at its first poll does not need `finish`, which allocates memory.
    match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => finish(work),
    }
}

#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
fn finish<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    pollster::block_on(work)
}

/// Returns an error, because in a browser no thread may block. Without the GPU backend this
/// function is never called, because no future is ever pending.
#[cfg(not(all(feature = "gpu", not(target_arch = "wasm32"))))]
fn finish<T>(_work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    Err(Error::device(
        "this thread must not block to wait for it (call `Detector::new_async` or \
         `Detector::detect_async` instead)",
    ))
}
