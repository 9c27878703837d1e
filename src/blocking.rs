//! Blocking forms of asynchronous work.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::Error;

/// How to wait for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The thread waits.
    Block,
    /// The task waits: the future is pending, and is woken.
    #[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "there is no device"))]
    Await,
}

/// Completes work that waits for a device with [`Wait::Block`], so that its future is
/// ready at once; or where the device's own futures are not, on this thread.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let mut work = pin!(work);
    // Without an allocation, as a rule.
    match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => finish(work),
    }
}

#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
fn finish<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    pollster::block_on(work)
}

/// A browser has no thread that may wait, and without the GPU there is nothing to wait for.
#[cfg(not(all(feature = "gpu", not(target_arch = "wasm32"))))]
fn finish<T>(_work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    Err(Error::device(
        "this thread may not wait for it: use the async form, `Detector::new_async` or \
         `Detector::detect_async`",
    ))
}
