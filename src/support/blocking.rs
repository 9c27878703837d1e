//! Lets blocking functions run asynchronous work to completion.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The calling thread blocks until the GPU has finished.
    Block,
    /// The future of the step returns `Pending` until the GPU has finished, and its task is woken
    /// then.
    #[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "only a GPU uses it"))]
    Await,
}

/// Runs a future to completion on the calling thread. With [`Wait::Block`], the future usually
/// completes at once.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let mut work = pin!(work);
    // `block_on` polls the future once without an executor, because an executor would allocate
    // memory. This first poll usually completes the future.
    match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => finish(work),
    }
}

#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
fn finish<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    pollster::block_on(work)
}

/// Returns an error instead of waiting for the future, because a thread in a browser must not
/// block. A build without the GPU backend never calls this function, because its futures never have
/// to wait.
#[cfg(not(all(feature = "gpu", not(target_arch = "wasm32"))))]
fn finish<T>(_work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    Err(Error::device(
        "this thread must not block to wait for it (call `Detector::new_async` or \
         `Detector::detect_async` instead)",
    ))
}
