//! A ring of mapped buffers, one for each recording in flight: what `prepare`
//! writes stays there until the device has copied it. So each recording sees its own
//! values, and nothing needs the queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};

use super::pipeline::Shared;
use super::scoped;
use crate::Error;

/// A slot that is mapped, and waits to be written.
const FREE: u8 = 0;
/// One that a recording reads.
const BUSY: u8 = 1;
/// One whose encoder was dropped: it is no longer mapped, and has to be made anew.
const UNMAPPED: u8 = 2;

struct Slot {
    buffer: wgpu::Buffer,
    state: Arc<AtomicU8>,
}

#[derive(Default)]
pub(super) struct Ring {
    slots: Vec<Slot>,
}

/// Sets the state of a slot when its recording is through; if it never was
/// submitted, when its encoder is dropped.
struct Freed {
    shared: Arc<Shared>,
    /// A buffer that nobody holds any more is not mapped: wgpu gives up.
    _buffer: wgpu::Buffer,
    state: Arc<AtomicU8>,
    to: u8,
}

impl Freed {
    fn mapped(mut self, well: bool) {
        if well {
            self.to = FREE;
        } else {
            self.shared.mapping_failed();
        }
    }
}

impl Drop for Freed {
    fn drop(&mut self) {
        self.state.store(self.to, SeqCst);
    }
}

fn create(shared: &Shared, size: u64) -> wgpu::Buffer {
    shared.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("carom upload"),
        size,
        usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: true,
    })
}

impl Ring {
    /// Writes parts, each at its offset, into a free slot of at least `size` bytes,
    /// and returns its number. `again` is a slot that was written but not yet
    /// recorded.
    pub(super) fn write(
        &mut self,
        shared: &Shared,
        most: u32,
        again: Option<usize>,
        size: u64,
        parts: &[(u64, &[u8])],
    ) -> Result<usize, Error> {
        let busy = |slot: &Slot| slot.state.load(SeqCst) == BUSY;
        let number = match again.or_else(|| self.slots.iter().position(|slot| !busy(slot))) {
            Some(number) => number,
            None if self.slots.len() >= most as usize => {
                return Err(Error::TooManyInFlight {
                    what: "recordings",
                    limit: most,
                });
            }
            None => self.slots.len(),
        };
        let fits = |slot: &Slot| slot.buffer.size() >= size && slot.state.load(SeqCst) == FREE;
        if !self.slots.get(number).is_some_and(fits) {
            if size > shared.limits.max_buffer_size {
                return Err(Error::DeviceLimit {
                    what: "the upload of the spheres",
                    limit: "max_buffer_size",
                    needed: size,
                    available: shared.limits.max_buffer_size,
                });
            }
            let slot = Slot {
                buffer: scoped(&shared.device, || Ok(create(shared, size)))?,
                state: Arc::new(AtomicU8::new(FREE)),
            };
            match self.slots.get_mut(number) {
                Some(old) => *old = slot,
                None => self.slots.push(slot),
            }
        }
        for &(offset, bytes) in parts.iter().filter(|(_, bytes)| !bytes.is_empty()) {
            let range = offset..offset + bytes.len() as u64;
            match self.slots[number].buffer.get_mapped_range_mut(range) {
                Ok(mut mapped) => mapped.copy_from_slice(bytes),
                Err(_) => {
                    // Nothing else unmaps it.
                    shared.lost.store(true, SeqCst);
                    return Err(Error::DeviceLost);
                }
            }
        }
        Ok(number)
    }

    /// Hands a written slot to the device: until the submit of `encoder` is through.
    pub(super) fn hand_over(
        &self,
        shared: &Arc<Shared>,
        number: usize,
        encoder: &wgpu::CommandEncoder,
    ) -> Result<(&wgpu::Buffer, Submitted), Error> {
        let Slot { buffer, state } = &self.slots[number];
        state.store(BUSY, SeqCst);
        if let Err(error) = scoped(&shared.device, || {
            buffer.unmap();
            Ok(())
        }) {
            state.store(UNMAPPED, SeqCst);
            shared.lost.store(true, SeqCst);
            log::debug!("carom takes the device for lost: {error}");
            return Err(Error::DeviceLost);
        }
        let freed = Freed {
            shared: shared.clone(),
            _buffer: buffer.clone(),
            state: state.clone(),
            to: UNMAPPED,
        };
        encoder.map_buffer_on_submit(buffer, wgpu::MapMode::Write, .., move |mapped| {
            freed.mapped(mapped.is_ok());
        });
        Ok((buffer, Submitted(state.clone())))
    }
}

/// What has become of a recording.
pub(super) struct Submitted(Arc<AtomicU8>);

impl Submitted {
    /// Whether its encoder was dropped.
    pub(super) fn never(&self) -> bool {
        self.0.load(SeqCst) == UNMAPPED
    }

    /// Whether nobody knows yet.
    pub(super) fn perhaps(&self) -> bool {
        self.0.load(SeqCst) == BUSY
    }
}
