//! The device that a pipeline and all of its buffers share: its limits, whether it is
//! lost, and its complaints about the work done on it.
//!
//! wgpu reports errors through error scopes. Popping a scope takes effect at once, and
//! returns a future of the error. Natively that future is ready; in a browser it is
//! ready some time after the call has returned to the event loop.
//!
//! - The async form, [`Context::scoped_async`], awaits the errors.
//! - The synchronous form, [`Context::scoped`], never blocks. Natively it returns the
//!   error of its own work. In a browser it parks the futures that are not ready, and
//!   returns what the work itself returned; [`Context::alive`], with which every public
//!   call begins, reports a parked error as soon as its future is ready.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::task::{Poll, Waker};

use wgpu::{DeviceType, ErrorFilter, WasmNotSend};

use crate::Error;

/// The device, and what is known about it.
pub(super) struct Context {
    pub(super) device: wgpu::Device,
    pub(super) limits: wgpu::Limits,
    /// Whether the adapter is a software adapter.
    pub(super) software: bool,
    /// Set when the device is found to be lost.
    lost: AtomicBool,
    /// Errors of earlier calls that were not ready when those calls returned.
    parked: Mutex<Vec<PoppedScope>>,
}

/// The error of a popped scope, if there was one.
trait ScopeError: Future<Output = Option<wgpu::Error>> + WasmNotSend {}

impl<F: Future<Output = Option<wgpu::Error>> + WasmNotSend> ScopeError for F {}

type PoppedScope = Pin<Box<dyn ScopeError>>;

/// The result of a piece of work, and the errors of the scopes around it.
struct Scoped<T> {
    done: Result<T, Error>,
    popped: [PoppedScope; 3],
}

impl Context {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        Self {
            device: device.clone(),
            limits: device.limits(),
            software: device.adapter_info().device_type == DeviceType::Cpu,
            lost: AtomicBool::new(false),
            parked: Mutex::default(),
        }
    }

    /// Runs `work`, and turns the device's complaints into an error, so that none
    /// reaches the application's handler. Never blocks.
    pub(super) fn scoped<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        self.settle(self.scope(work))
    }

    /// [`scoped`](Self::scoped), which awaits the device's complaints.
    pub(super) async fn scoped_async<T>(
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

    /// Runs `work` inside error scopes. Scopes belong to a thread, so they are pushed
    /// and popped with no await in between.
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

    /// The result of the work, with the complaints that are ready. The others are
    /// parked.
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

    /// An error once the device is known to be lost, and the error of an earlier call
    /// that was not ready then.
    pub(super) fn alive(&self) -> Result<(), Error> {
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

    /// Takes the device for lost from now on.
    pub(super) fn lose(&self) {
        self.lost.store(true, Relaxed);
    }

    /// An error if the device is lost: a new buffer cannot be mapped then. To be
    /// called in an error scope.
    pub(super) fn probe(&self) -> Result<(), Error> {
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

    /// To be called when a buffer could not be mapped, which as a rule means that the
    /// device is lost.
    pub(super) fn mapping_failed(&self) {
        // The probe remembers a loss. There is nobody to return it to.
        let _ = self.scoped(|| self.probe());
    }
}

/// Polls a future whose waker nobody needs.
fn poll_once(scope: &mut PoppedScope) -> Poll<Option<wgpu::Error>> {
    let mut context = std::task::Context::from_waker(Waker::noop());
    scope.as_mut().poll(&mut context)
}

/// The result of a piece of work about which the device may have complained.
fn judge<T>(done: Result<T, Error>, complaint: Option<wgpu::Error>) -> Result<T, Error> {
    match complaint {
        // The work's own error says more.
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

    /// A scope whose error is ready once the flag is set, as in a browser.
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
        // The work's own error says more.
        let own = || invalid().and(Err::<(), _>(Error::NotSubmitted));
        assert_eq!(context.scoped(own), Err(Error::NotSubmitted));
        assert_eq!(context.alive(), Ok(()));
    }
}
