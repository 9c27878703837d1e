//! The GPU device that a pipeline and all of its buffers share: its limits, its errors and its
//! loss.
//!
//! wgpu reports errors through error scopes. Popping an error scope returns a future of the error.
//! On native platforms, the future is ready at once. In a browser, it becomes ready some time after
//! the call has returned to the event loop.
//!
//! - [`Context::scoped_async`] runs work inside error scopes and awaits the errors.
//! - [`Context::scoped`] runs work inside error scopes and never blocks. In a browser, it *parks*
//!   (stores) each future that is not ready. Public calls that record, read back or create buffers
//!   begin with [`Context::alive`]. It polls the parked futures, and returns an error that one of
//!   them has reported.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::task::{Poll, Waker};

use wgpu::{DeviceType, ErrorFilter, WasmNotSend};

use crate::Error;

pub(crate) struct Context {
    pub(crate) device: wgpu::Device,
    pub(crate) limits: wgpu::Limits,
    pub(crate) software: bool,
    lost: AtomicBool,
    /// Not known yet when the calls in these scopes returned.
    parked: Mutex<Vec<PoppedScope>>,
}

trait ScopeError: Future<Output = Option<wgpu::Error>> + WasmNotSend {}

impl<F: Future<Output = Option<wgpu::Error>> + WasmNotSend> ScopeError for F {}

type PoppedScope = Pin<Box<dyn ScopeError>>;

struct Scoped<T> {
    done: Result<T, Error>,
    popped: [PoppedScope; 3],
}

impl Context {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        Self {
            device: device.clone(),
            limits: device.limits(),
            software: device.adapter_info().device_type == DeviceType::Cpu,
            lost: AtomicBool::new(false),
            parked: Mutex::default(),
        }
    }

    /// An error of the device becomes an [`Error`], and does not reach the application's
    /// error handler. Never blocks.
    pub(crate) fn scoped<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        self.settle(self.scope(work))
    }

    /// As [`scoped`](Self::scoped), but awaits the errors.
    pub(crate) async fn scoped_async<T>(
        &self,
        work: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Scoped { done, popped } = self.scope(work);
        let mut complaint = None;
        for scope in popped {
            complaint = scope.await.or(complaint);
        }
        judge(done, complaint)
    }

    /// wgpu keeps a stack of scopes per thread, so no await may come between pushing and popping.
    fn scope<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Scoped<T> {
        let [internal, memory, validation] = [
            ErrorFilter::Internal,
            ErrorFilter::OutOfMemory,
            ErrorFilter::Validation,
        ]
        .map(|filter| self.device.push_error_scope(filter));
        Scoped {
            done: work(),
            popped: [
                Box::pin(validation.pop()),
                Box::pin(memory.pop()),
                Box::pin(internal.pop()),
            ],
        }
    }

    /// If the device has not answered yet, the scope is stored for [`alive`](Self::alive).
    fn settle<T>(&self, scoped: Scoped<T>) -> Result<T, Error> {
        let mut complaint = None;
        for mut scope in scoped.popped {
            match poll_once(&mut scope) {
                Poll::Ready(error) => complaint = error.or(complaint),
                Poll::Pending => self.parked().push(scope),
            }
        }
        judge(scoped.done, complaint)
    }

    fn parked(&self) -> std::sync::MutexGuard<'_, Vec<PoppedScope>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn alive(&self) -> Result<(), Error> {
        self.not_lost()?;
        let mut complaint = None;
        self.parked().retain_mut(|scope| match poll_once(scope) {
            Poll::Ready(error) => {
                complaint = error.or(complaint.take());
                false
            }
            Poll::Pending => true,
        });
        judge(Ok(()), complaint)
    }

    fn not_lost(&self) -> Result<(), Error> {
        if self.lost.load(Relaxed) {
            return Err(Error::DeviceLost);
        }
        Ok(())
    }

    pub(crate) fn lose(&self) {
        self.lost.store(true, Relaxed);
    }

    /// Fails if the device is lost: mapping fails then, while most other calls succeed.
    /// Must be called inside a wgpu error scope.
    pub(crate) fn probe(&self) -> Result<(), Error> {
        self.not_lost()?;
        let probe = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("carom probe"),
            size: 8,
            usage: wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        });
        if probe.get_mapped_range_mut(..).is_err() {
            self.lose();
        }
        self.not_lost()
    }

    pub(crate) fn mapping_failed(&self) {
        // A callback cannot return an error. If the device is lost, `probe` has marked it.
        let _ = self.scoped(|| self.probe());
    }
}

fn poll_once(scope: &mut PoppedScope) -> Poll<Option<wgpu::Error>> {
    let mut context = std::task::Context::from_waker(Waker::noop());
    scope.as_mut().poll(&mut context)
}

fn judge<T>(done: Result<T, Error>, complaint: Option<wgpu::Error>) -> Result<T, Error> {
    match complaint {
        // The error of the work is more specific.
        Some(complaint) => done.and(Err(Error::device_failed(complaint))),
        None => done,
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::Arc;

    use super::*;

    fn context() -> Context {
        let (device, _) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
        Context::new(&device)
    }

    /// As in a browser: ready once the flag `ready` is set.
    fn late(ready: &Arc<AtomicBool>, complains: bool) -> PoppedScope {
        let ready = ready.clone();
        Box::pin(poll_fn(move |_| match ready.load(Relaxed) {
            true => Poll::Ready(complains.then(|| wgpu::Error::Validation {
                source: "late".into(),
                description: "late".to_owned(),
            })),
            false => Poll::Pending,
        }))
    }

    #[test]
    fn an_error_that_is_not_ready_is_reported_once_by_a_later_call() {
        let context = context();
        let ready = Arc::new(AtomicBool::new(false));
        let scoped = Scoped {
            done: Ok(5),
            popped: [late(&ready, false), late(&ready, true), late(&ready, false)],
        };
        assert_eq!(context.settle(scoped), Ok(5));
        assert_eq!(context.alive(), Ok(()));
        ready.store(true, Relaxed);
        assert!(
            matches!(context.alive(), Err(Error::Device { reason, .. }) if reason.contains("late"))
        );
        assert_eq!(context.alive(), Ok(()));
        assert!(context.parked().is_empty());
    }

    #[test]
    fn an_error_that_is_ready_is_returned_by_both_forms() {
        let context = context();
        let invalid = || {
            let _ = context.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: 4,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::MAP_WRITE,
                mapped_at_creation: false,
            });
            Ok(())
        };
        assert!(matches!(context.scoped(invalid), Err(Error::Device { .. })));
        let awaited = pollster::block_on(context.scoped_async(invalid));
        assert!(matches!(awaited, Err(Error::Device { .. })));
        let own = || invalid().and(Err::<(), _>(Error::NotSubmitted));
        assert_eq!(context.scoped(own), Err(Error::NotSubmitted));
        assert_eq!(context.alive(), Ok(()));
    }
}
