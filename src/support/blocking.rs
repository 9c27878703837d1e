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

/// With [`Wait::Block`], the future usually completes at once.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let mut work = pin!(work);
    // Without an executor, which would allocate. This poll usually completes the future.
    match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => finish(work),
    }
}

#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
fn finish<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    pollster::block_on(work)
}

/// A thread in a browser must not block. Without the GPU backend, futures never have to wait.
#[cfg(not(all(feature = "gpu", not(target_arch = "wasm32"))))]
fn finish<T>(_work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    Err(Error::device(
        "this thread must not block to wait for it (call `Detector::new_async` or \
         `Detector::detect_async` instead)",
    ))
}
