//! Staging buffers, through which the host receives results. The application's own submission
//! copies the results and maps the staging buffer.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;

use crate::Error;
use crate::gpu::device::context::{Context, Late};

const FREE: u8 = 0;
const BUSY: u8 = 1;
const MAPPED: u8 = 2;
/// The encoder was dropped.
const NEVER: u8 = 3;
const FAILED: u8 = 4;
/// In flight, but nobody will read it.
const ABANDONED: u8 = 5;

struct StagingBuffer {
    buffer: wgpu::Buffer,
    state: AtomicU8,
    serial: AtomicU32,
    waiting: Mutex<Option<Waker>>,
}

impl StagingBuffer {
    fn is(&self, state: u8) -> bool {
        self.state.load(SeqCst) == state
    }

    fn is_idle(&self) -> bool {
        self.is(FREE) || self.is(FAILED)
    }

    /// The buffer must not hold results of the same step: if the submission of the new copy
    /// fails, wgpu still maps the buffer, and only the step number tells old contents from
    /// new ones.
    fn fits(&self, size: u64, serial: u32) -> bool {
        self.is(FREE) && self.buffer.size() >= size && self.serial.load(SeqCst) != serial
    }

    fn unmap(&self, context: &Context) {
        // wgpu may report an error on a lost device.
        let unmapped = context.scoped(|| {
            self.buffer.unmap();
            Ok(())
        });
        self.state
            .store(if unmapped.is_ok() { FREE } else { FAILED }, SeqCst);
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Option<Waker>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees the buffer if its ticket was dropped, and wakes the task that waits.
    fn arrive(&self, context: &Context, outcome: u8) {
        let busy = self.state.compare_exchange(BUSY, outcome, SeqCst, SeqCst);
        if busy.is_err() {
            match outcome {
                MAPPED => self.unmap(context),
                FAILED => self.state.store(FAILED, SeqCst),
                _ => self.state.store(FREE, SeqCst),
            }
        }
        if let Some(task) = self.waiting().take() {
            task.wake();
        }
    }
}

/// wgpu drops it after the submission has run, or with an encoder that is not submitted. Its
/// destructor reports the outcome.
struct MapCallback {
    context: Arc<Context>,
    staging: Arc<StagingBuffer>,
    outcome: u8,
}

impl MapCallback {
    fn mapped(mut self, well: bool) {
        if !well {
            self.context.mapping_failed();
        }
        self.outcome = if well { MAPPED } else { FAILED };
    }
}

impl Drop for MapCallback {
    fn drop(&mut self) {
        self.staging.arrive(&self.context, self.outcome);
    }
}

/// The start of a buffer, and the bytes of a staging buffer to which it is copied.
pub(crate) type CopiedPart<'a> = (&'a wgpu::Buffer, Range<u64>);

pub(crate) struct Staging {
    buffers: Vec<Arc<StagingBuffer>>,
    most: u32,
}

pub(crate) struct Reserved {
    staging: Arc<StagingBuffer>,
    size: u64,
    serial: u32,
}

impl Staging {
    pub(crate) fn new(most: u32) -> Self {
        Self {
            buffers: Vec::new(),
            most,
        }
    }

    /// The buffer is not taken until [`Reserved::copy`] is called.
    pub(crate) fn reserve(
        &mut self,
        context: &Context,
        size: u64,
        serial: u32,
    ) -> Result<Reserved, Error> {
        let fits = |staging: &Arc<StagingBuffer>| staging.fits(size, serial);
        let number = (self.buffers.iter().position(fits))
            .or_else(|| self.buffers.iter().position(|staging| staging.is_idle()))
            .unwrap_or(self.buffers.len());
        if number >= self.most as usize {
            return Err(Error::TooManyInFlight {
                what: "readbacks",
                limit: self.most,
            });
        }
        if !self.buffers.get(number).is_some_and(fits) {
            let staging = Arc::new(context.scoped(|| create(context, size))?);
            match self.buffers.get_mut(number) {
                Some(old) => *old = staging,
                None => self.buffers.push(staging),
            }
        }
        Ok(Reserved {
            staging: self.buffers[number].clone(),
            size,
            serial,
        })
    }
}

fn create(context: &Context, size: u64) -> Result<StagingBuffer, Error> {
    // The application's encoder would otherwise use a buffer created on a lost device, and
    // its submission would fail.
    context.probe()?;
    let buffer = context.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("carom readback"),
        size,
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    Ok(StagingBuffer {
        buffer,
        state: AtomicU8::new(FREE),
        serial: AtomicU32::new(0),
        waiting: Mutex::default(),
    })
}

impl Reserved {
    /// wgpu maps the staging buffer after `encoder` is submitted.
    pub(crate) fn copy(
        self,
        context: &Arc<Context>,
        encoder: &mut wgpu::CommandEncoder,
        parts: Vec<CopiedPart<'_>>,
    ) -> Copied {
        let Self {
            staging,
            size,
            serial,
        } = self;
        staging.state.store(BUSY, SeqCst);
        staging.serial.store(serial, SeqCst);
        for (buffer, Range { start, end }) in parts {
            encoder.copy_buffer_to_buffer(buffer, 0, &staging.buffer, start, end - start);
        }
        let arrival = MapCallback {
            context: context.clone(),
            staging: staging.clone(),
            outcome: NEVER,
        };
        encoder.map_buffer_on_submit(&staging.buffer, wgpu::MapMode::Read, .., move |mapped| {
            arrival.mapped(mapped.is_ok());
        });
        Copied {
            context: context.clone(),
            staging,
            size,
        }
    }
}

/// Dropping it frees the staging buffer, at once or when the copy is complete.
pub(crate) struct Copied {
    context: Arc<Context>,
    staging: Arc<StagingBuffer>,
    /// The staging buffer may be larger.
    size: u64,
}

pub(crate) enum CopyState {
    UnderWay,
    NeverSubmitted,
    Mapped,
    Failed,
}

impl Copied {
    pub(crate) fn progress(&self) -> CopyState {
        match self.staging.state.load(SeqCst) {
            BUSY => CopyState::UnderWay,
            NEVER => CopyState::NeverSubmitted,
            MAPPED => CopyState::Mapped,
            _ => CopyState::Failed,
        }
    }

    /// If the copy is in flight, `task` is woken when it ends.
    pub(crate) fn progress_or_wake(&self, task: &Waker) -> CopyState {
        *self.staging.waiting() = Some(task.clone());
        // After the waker is stored, so that no end is missed.
        self.progress()
    }

    /// See [`Context::explained`].
    pub(crate) fn explained(&self, error: Error, sources: &Late) -> Error {
        self.context.explained(error, sources)
    }

    /// The state must be [`Mapped`](CopyState::Mapped).
    pub(crate) fn bytes(&self) -> Result<wgpu::BufferView, Error> {
        self.staging
            .buffer
            .get_mapped_range(..self.size)
            .map_err(|_| Error::DeviceLost)
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let state = &self.staging.state;
        match state.compare_exchange(BUSY, ABANDONED, SeqCst, SeqCst) {
            Err(MAPPED) => self.staging.unmap(&self.context),
            Err(NEVER) => state.store(FREE, SeqCst),
            Ok(_) | Err(_) => {}
        }
    }
}
