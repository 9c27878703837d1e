//! Staging buffers: results are copied there, and mapped by the application's own
//! submit.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;

use super::context::Context;
use crate::Error;

// The states of a staging buffer.
const FREE: u8 = 0;
/// In use by the device.
const BUSY: u8 = 1;
/// Ready to be read.
const MAPPED: u8 = 2;
/// Its encoder was dropped.
const NEVER: u8 = 3;
/// It could not be mapped.
const FAILED: u8 = 4;
/// In use by the device, and its ticket was dropped.
const ABANDONED: u8 = 5;

struct StagingBuffer {
    buffer: wgpu::Buffer,
    state: AtomicU8,
    /// The step that was last copied here.
    serial: AtomicU32,
    /// The task that waits for the copy.
    waiting: Mutex<Option<Waker>>,
}

impl StagingBuffer {
    fn is(&self, state: u8) -> bool {
        self.state.load(SeqCst) == state
    }

    /// Whether no copy is under way, and no ticket needs the contents.
    fn is_idle(&self) -> bool {
        self.is(FREE) || self.is(FAILED)
    }

    /// Whether so many bytes of a step can be copied here. Not where bytes of the same
    /// step are already: they would be taken for the copy's, should its submit fail.
    fn fits(&self, size: u64, serial: u32) -> bool {
        self.is(FREE) && self.buffer.size() >= size && self.serial.load(SeqCst) != serial
    }

    fn unmap(&self, context: &Context) {
        // A lost device may refuse this.
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

    /// From [`BUSY`] to the outcome of the copy.
    fn arrive(&self, context: &Context, outcome: u8) {
        let busy = self.state.compare_exchange(BUSY, outcome, SeqCst, SeqCst);
        if busy.is_err() {
            // Abandoned.
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

/// Tells a staging buffer the outcome of its copy when the submit has run, or when the
/// encoder is dropped.
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

/// A part of a buffer from its beginning, and the part's size in bytes.
pub(super) type CopiedPart<'a> = (&'a wgpu::Buffer, u64);

/// Staging buffers, one for each readback under way.
pub(super) struct Staging {
    buffers: Vec<Arc<StagingBuffer>>,
    /// How many there may be.
    most: u32,
}

/// A staging buffer that a copy may be recorded into.
pub(super) struct Reserved {
    staging: Arc<StagingBuffer>,
    size: u64,
    serial: u32,
}

impl Staging {
    pub(super) fn new(most: u32) -> Self {
        Self {
            buffers: Vec::new(),
            most,
        }
    }

    /// Finds or makes a free buffer for so many bytes of a step. It is not taken
    /// before [`Reserved::copy`].
    pub(super) fn reserve(
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
    // The submit would complain of a buffer that was made on a lost device.
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
    /// Records the copy of `parts`, one after the other.
    pub(super) fn copy(
        self,
        context: &Arc<Context>,
        encoder: &mut wgpu::CommandEncoder,
        parts: &[CopiedPart<'_>],
    ) -> Copied {
        let Self {
            staging,
            size,
            serial,
        } = self;
        staging.state.store(BUSY, SeqCst);
        staging.serial.store(serial, SeqCst);
        let mut offset = 0;
        for &(buffer, size) in parts {
            encoder.copy_buffer_to_buffer(buffer, 0, &staging.buffer, offset, size);
            offset += size;
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

/// A copy that was recorded. Dropping it frees the staging buffer, at once or when the
/// device has finished with it.
pub(super) struct Copied {
    context: Arc<Context>,
    staging: Arc<StagingBuffer>,
    /// Bytes that were copied; the buffer may be longer.
    size: u64,
}

/// What has become of a copy.
pub(super) enum CopyState {
    /// The device is not through with it.
    UnderWay,
    /// Its encoder was dropped.
    NeverSubmitted,
    /// It is there to be read.
    Mapped,
    /// It could not be mapped.
    Failed,
}

impl Copied {
    pub(super) fn progress(&self) -> CopyState {
        match self.staging.state.load(SeqCst) {
            BUSY => CopyState::UnderWay,
            NEVER => CopyState::NeverSubmitted,
            MAPPED => CopyState::Mapped,
            _ => CopyState::Failed,
        }
    }

    /// [`progress`](Self::progress), and wakes the task when a copy that is under way
    /// no longer is.
    pub(super) fn progress_or_wake(&self, task: &Waker) -> CopyState {
        *self.staging.waiting() = Some(task.clone());
        // Only now, so that no arrival falls in between.
        self.progress()
    }

    /// The bytes of a copy that is [`Mapped`](CopyState::Mapped).
    pub(super) fn bytes(&self) -> Result<wgpu::BufferView, Error> {
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
