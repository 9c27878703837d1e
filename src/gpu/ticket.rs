//! Reading results back some frames late: mapped by the application's own submit.

use std::fmt::{Debug, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::SeqCst};

use super::pipeline::Shared;
use super::scoped;
use super::status::{INCOMPLETE, TRUNCATED};
use super::step::{Needed, Read, Recorded};
use crate::Error;

/// What a [`Ticket`] has.
#[derive(Debug)]
pub enum Taken<T> {
    /// Nothing yet: the device has not come so far, or nobody has polled it since.
    /// Ask this ticket again.
    Pending(Ticket<T>),
    /// All of it.
    Ready(T),
    /// The list is not whole: this is what it needed. When the buffers have as much
    /// room, only the readback was too small, which goes by the last count that was
    /// read; the next one has room.
    Truncated(Needed),
}

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
/// In use by the device, and nobody waits for it.
const ABANDONED: u8 = 5;

struct Slot {
    buffer: wgpu::Buffer,
    state: AtomicU8,
    /// The step that was last to be copied here.
    serial: AtomicU32,
}

impl Slot {
    fn unmap(&self, shared: &Shared) {
        // On a device that is lost this may be refused.
        let unmapped = scoped(&shared.device, || {
            self.buffer.unmap();
            Ok(())
        });
        self.state
            .store(if unmapped.is_ok() { FREE } else { FAILED }, SeqCst);
    }

    /// From [`BUSY`] to what came of it.
    fn arrive(&self, shared: &Shared, at: u8) {
        if self
            .state
            .compare_exchange(BUSY, at, SeqCst, SeqCst)
            .is_ok()
        {
            return;
        }
        // Abandoned.
        match at {
            MAPPED => self.unmap(shared),
            FAILED => self.state.store(FAILED, SeqCst),
            _ => self.state.store(FREE, SeqCst),
        }
    }
}

/// Staging buffers, one for each readback under way.
pub(super) struct Staging {
    slots: Vec<Arc<Slot>>,
    /// How many there may be.
    most: u32,
    /// Pairs found in the latest step that was read, or [`UNKNOWN`].
    known: Arc<AtomicU64>,
}

const UNKNOWN: u64 = u64::MAX;

/// Tells the slot what came of the submit, or that its encoder was dropped.
struct Arrival {
    shared: Arc<Shared>,
    slot: Arc<Slot>,
    at: u8,
}

impl Arrival {
    fn mapped(mut self, well: bool) {
        if !well {
            self.shared.mapping_failed();
        }
        self.at = if well { MAPPED } else { FAILED };
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        self.slot.arrive(&self.shared, self.at);
    }
}

/// Reading of a buffer, and its size in bytes.
pub(super) type Part<'a> = (&'a wgpu::Buffer, u64);

impl Staging {
    pub(super) fn new(most: u32) -> Self {
        Self {
            slots: Vec::new(),
            most,
            known: Arc::new(AtomicU64::new(UNKNOWN)),
        }
    }

    /// Pairs found in the latest step that was read.
    pub(super) fn known(&self) -> Option<u64> {
        Some(self.known.load(SeqCst)).filter(|&known| known != UNKNOWN)
    }

    /// Copies parts of buffers for a ticket.
    pub(super) fn read<T>(
        &mut self,
        shared: &Arc<Shared>,
        encoder: &mut wgpu::CommandEncoder,
        parts: &[Part<'_>],
        recorded: Recorded,
        decode: fn(Read) -> Result<Option<T>, Error>,
    ) -> Result<Ticket<T>, Error> {
        let size = parts.iter().map(|&(_, size)| size).sum::<u64>();
        let idle = |slot: &Slot| matches!(slot.state.load(SeqCst), FREE | FAILED);
        // Not what stands there of the same step, should this submit fail.
        let fits = |slot: &Slot| {
            slot.state.load(SeqCst) == FREE
                && slot.buffer.size() >= size
                && slot.serial.load(SeqCst) != recorded.serial
        };
        let number = (self.slots.iter().position(|slot| fits(slot)))
            .or_else(|| self.slots.iter().position(|slot| idle(slot)))
            .unwrap_or(self.slots.len());
        if number >= self.most as usize {
            return Err(Error::TooManyInFlight {
                what: "readbacks",
                limit: self.most,
            });
        }
        if !self.slots.get(number).is_some_and(|slot| fits(slot)) {
            let buffer = scoped(&shared.device, || {
                // A buffer made on a lost device would be complained of at the submit.
                shared.probe()?;
                Ok(shared.device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("carom readback"),
                    size,
                    usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                    mapped_at_creation: false,
                }))
            })?;
            let slot = Arc::new(Slot {
                buffer,
                state: AtomicU8::new(FREE),
                serial: AtomicU32::new(0),
            });
            match self.slots.get_mut(number) {
                Some(old) => *old = slot,
                None => self.slots.push(slot),
            }
        }
        let slot = self.slots[number].clone();
        slot.state.store(BUSY, SeqCst);
        slot.serial.store(recorded.serial, SeqCst);
        let mut offset = 0;
        for &(buffer, size) in parts {
            encoder.copy_buffer_to_buffer(buffer, 0, &slot.buffer, offset, size);
            offset += size;
        }
        let arrival = Arrival {
            shared: shared.clone(),
            slot: slot.clone(),
            at: NEVER,
        };
        encoder.map_buffer_on_submit(&slot.buffer, wgpu::MapMode::Read, .., move |mapped| {
            arrival.mapped(mapped.is_ok());
        });
        Ok(Ticket {
            shared: shared.clone(),
            slot,
            size,
            recorded,
            known: self.known.clone(),
            decode,
        })
    }
}

/// The results of one step, when the device is through with it: the application's
/// submit maps them, and its polling (each later submit polls, too) makes them
/// arrive. An application that keeps two frames in flight has them two frames late.
///
/// Dropping it is safe.
pub struct Ticket<T> {
    shared: Arc<Shared>,
    slot: Arc<Slot>,
    /// Bytes that were copied; the buffer may be longer.
    size: u64,
    recorded: Recorded,
    /// Pairs found in the latest step read.
    known: Arc<AtomicU64>,
    decode: fn(Read) -> Result<Option<T>, Error>,
}

impl<T> Debug for Ticket<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ticket")
            .field("step", &self.recorded.serial)
            .finish_non_exhaustive()
    }
}

impl<T> Drop for Ticket<T> {
    fn drop(&mut self) {
        let state = &self.slot.state;
        match state.compare_exchange(BUSY, ABANDONED, SeqCst, SeqCst) {
            Err(MAPPED) => self.slot.unmap(&self.shared),
            Err(NEVER) => state.store(FREE, SeqCst),
            Ok(_) | Err(_) => {}
        }
    }
}

impl<T> Ticket<T> {
    /// The results, if they are there. Never blocks, and never polls.
    ///
    /// # Errors
    /// [`Error::NotSubmitted`] if the recording's encoder was dropped or its submit
    /// failed, [`Error::DeviceLost`], [`Error::TooManyCandidates`] for a world too
    /// crowded; [`Error::OutOfMemory`].
    pub fn try_take(self) -> Result<Taken<T>, Error> {
        match self.slot.state.load(SeqCst) {
            BUSY => return Ok(Taken::Pending(self)),
            NEVER => return Err(Error::NotSubmitted),
            MAPPED => {}
            _ => return Err(Error::DeviceLost),
        }
        let read = {
            let mapped = self
                .slot
                .buffer
                .get_mapped_range(..self.size)
                .map_err(|_| Error::DeviceLost)?;
            Read::new(&mapped, &self.recorded)?
        };
        if read.serial != self.recorded.serial {
            return Err(Error::NotSubmitted);
        }
        let counts = read.counts.clone();
        if counts.status & INCOMPLETE & !TRUNCATED == 0 {
            self.known.store(counts.found, SeqCst);
        }
        let decode = self.decode;
        // The buffer is free from here on.
        drop(self);
        Ok(match decode(read)? {
            Some(value) => Taken::Ready(value),
            None => Taken::Truncated(counts.needed().unwrap_or(Needed {
                spheres: counts.spheres,
                segments: counts.segments,
                pairs: counts.found,
                segment: 0.0,
            })),
        })
    }
}
