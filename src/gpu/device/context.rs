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
//! - [`Context::scoped_for`] does so for work that makes something: an error that arrives late goes to the
//!   [`Late`] of what was made, and whoever uses that gets it, each time.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Poll, Waker};

use wgpu::{DeviceType, ErrorFilter, WasmNotSend};

use crate::Error;

pub(crate) struct Context {
    pub(crate) device: wgpu::Device,
    pub(crate) limits: wgpu::Limits,
    pub(crate) software: bool,
    lost: Arc<AtomicBool>,
    /// Of the shaders. A device that refuses one cannot be used.
    pub(crate) shaders: Late,
    /// Not known yet when the calls in these scopes returned.
    parked: Mutex<Vec<Parked>>,
}

/// The error of something that a browser found invalid after it was made, if it did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Late(Arc<OnceLock<Error>>);

impl Late {
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.0.get().cloned().map_or(Ok(()), Err)
    }
}

struct Parked {
    scope: PoppedScope,
    /// Without it, the next call on the device reports the error.
    late: Option<Late>,
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
        let lost: Arc<AtomicBool> = Arc::default();
        // In a browser, `probe` finds nothing: buffers of a lost device can be mapped at their creation. There, the
        // application can have callbacks of its own beside this one.
        #[cfg(target_arch = "wasm32")]
        {
            let lost = lost.clone();
            device.set_device_lost_callback(move |_, _| lost.store(true, Relaxed));
        }
        Self {
            device: device.clone(),
            limits: device.limits(),
            software: device.adapter_info().device_type == DeviceType::Cpu,
            lost,
            shaders: Late::default(),
            parked: Mutex::default(),
        }
    }

    /// An error of the device becomes an [`Error`], and does not reach the application's
    /// error handler. Never blocks.
    pub(crate) fn scoped<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        self.settle(self.scope(work), None)
    }

    /// As [`scoped`](Self::scoped), but an error that is not ready goes to `late`.
    pub(crate) fn scoped_for<T>(
        &self,
        late: &Late,
        work: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.settle(self.scope(work), Some(late))
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
        let done = judge(done, complaint)?;
        // In a browser, neither a scope nor a call tells that the device is lost, and scopes inside `work` are parked.
        self.not_lost()?;
        self.poll_parked();
        self.shaders.check()?;
        Ok(done)
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
    fn settle<T>(&self, scoped: Scoped<T>, late: Option<&Late>) -> Result<T, Error> {
        let mut complaint = None;
        for mut scope in scoped.popped {
            match poll_once(&mut scope) {
                Poll::Ready(error) => complaint = error.or(complaint),
                Poll::Pending => {
                    let late = late.cloned();
                    self.parked().push(Parked { scope, late });
                }
            }
        }
        judge(scoped.done, complaint)
    }

    fn parked(&self) -> std::sync::MutexGuard<'_, Vec<Parked>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn alive(&self) -> Result<(), Error> {
        self.not_lost()?;
        let complaint = self.poll_parked();
        self.shaders.check()?;
        judge(Ok(()), complaint)
    }

    /// Returns the latest error that belongs to nothing that was made.
    fn poll_parked(&self) -> Option<wgpu::Error> {
        let mut complaint = None;
        self.parked().retain_mut(|Parked { scope, late }| {
            let Poll::Ready(error) = poll_once(scope) else {
                return true;
            };
            match (error, late) {
                (Some(error), Some(late)) => {
                    // The first error is the cause of others.
                    let _ = late.0.set(Error::device_failed(error));
                }
                (Some(error), None) => complaint = Some(error),
                (None, _) => {}
            }
            false
        });
        complaint
    }

    /// Returns why the results of a recording did not arrive, if the device has told since that the application's
    /// buffers in its bind groups, those of `sources`, cannot be bound.
    pub(crate) fn explained(&self, error: Error, sources: &Late) -> Error {
        if error == Error::NotSubmitted {
            if let Some(unrelated) = self.poll_parked() {
                log::error!("{unrelated}");
            }
            return sources.check().err().map_or(error, cannot_be_bound);
        }
        error
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

/// Returns the error of a bind group with the application's buffers.
pub(crate) fn cannot_be_bound(error: Error) -> Error {
    let (problem, source) = match error {
        Error::Device { reason, source } => (
            format!(
                "cannot be bound; use a buffer of the pipeline's device that is not destroyed: \
                 {reason}"
            ),
            source,
        ),
        other => (other.to_string(), None),
    };
    Error::SourceBuffer {
        what: "spheres",
        problem,
        source,
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
        assert_eq!(context.settle(scoped, None), Ok(5));
        assert_eq!(context.alive(), Ok(()));
        ready.store(true, Relaxed);
        assert!(
            matches!(context.alive(), Err(Error::Device { reason, .. }) if reason.contains("late"))
        );
        assert_eq!(context.alive(), Ok(()));
        assert!(context.parked().is_empty());
    }

    #[test]
    fn an_error_that_is_not_ready_sticks_to_what_was_made() {
        let context = context();
        let made = [Late::default(), Late::default()];
        let ready = Arc::new(AtomicBool::new(false));
        for (late, complains) in made.iter().zip([true, false]) {
            let scoped = Scoped {
                done: Ok(()),
                popped: [false, complains, false].map(|complains| self::late(&ready, complains)),
            };
            assert_eq!(context.settle(scoped, Some(late)), Ok(()));
        }
        assert_eq!(context.alive(), Ok(()));
        assert_eq!(made[0].check(), Ok(()));
        ready.store(true, Relaxed);
        for _ in 0..2 {
            assert_eq!(context.alive(), Ok(()));
            assert!(matches!(made[0].check(), Err(Error::Device { .. })));
            assert_eq!(made[1].check(), Ok(()));
        }
        assert!(matches!(
            context.explained(Error::NotSubmitted, &made[0]),
            Error::SourceBuffer { .. }
        ));
        assert_eq!(
            context.explained(Error::AlreadyTaken, &made[0]),
            Error::AlreadyTaken
        );
        assert_eq!(
            context.explained(Error::NotSubmitted, &made[1]),
            Error::NotSubmitted
        );
        let _ = context.shaders.0.set(Error::NothingRecorded);
        assert_eq!(context.alive(), Err(Error::NothingRecorded));
        let awaited = pollster::block_on(context.scoped_async(|| Ok(())));
        assert_eq!(awaited, Err(Error::NothingRecorded));
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
