//! Readbacks of GPU buffers for which carom itself submits the copy. The detector and the tests use
//! them.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

use bytemuck::Pod;

use crate::Error;

/// The buffer, then offset and size in bytes.
pub(crate) type ReadRange<'a> = (&'a wgpu::Buffer, u64, u64);

pub(crate) struct Reading {
    staging: wgpu::Buffer,
    /// The staging buffer may be larger.
    size: u64,
    pub(crate) submission: wgpu::SubmissionIndex,
    arrival: Arc<Mutex<Mapping>>,
}

#[derive(Default)]
struct Mapping {
    mapped: Option<Result<(), wgpu::BufferAsyncError>>,
    task: Option<Waker>,
}

pub(crate) fn staging(device: &wgpu::Device, size: u64) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("carom read back"),
        size,
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    })
}

/// Records the copy of `parts` to `staging`, and submits `encoder`.
///
/// The buffers need the usage `COPY_SRC`. The copy arrives only while the device is polled.
pub(crate) fn submit(
    queue: &wgpu::Queue,
    mut encoder: wgpu::CommandEncoder,
    parts: &[ReadRange<'_>],
    staging: wgpu::Buffer,
) -> Reading {
    let mut offset = 0;
    for &(buffer, from, size) in parts {
        encoder.copy_buffer_to_buffer(buffer, from, &staging, offset, size);
        offset += size;
    }
    let submission = queue.submit([encoder.finish()]);
    let arrival: Arc<Mutex<Mapping>> = Arc::default();
    let arrived = arrival.clone();
    staging
        .slice(..offset)
        .map_async(wgpu::MapMode::Read, move |mapped| {
            let mut arrival = arrived.lock().unwrap_or_else(PoisonError::into_inner);
            arrival.mapped = Some(mapped);
            let task = arrival.task.take();
            drop(arrival);
            if let Some(task) = task {
                task.wake();
            }
        });
    Reading {
        staging,
        size: offset,
        submission,
        arrival,
    }
}

impl Reading {
    pub(crate) async fn bytes(&self) -> Result<wgpu::BufferView, Error> {
        poll_fn(|context| {
            let mut arrival = self.arrival.lock().unwrap_or_else(PoisonError::into_inner);
            match arrival.mapped.take() {
                Some(mapped) => Poll::Ready(mapped),
                None => {
                    arrival.task = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
        .map_err(Error::device_failed)?;
        self.staging
            .get_mapped_range(..self.size)
            .map_err(Error::device_failed)
    }

    /// The view of [`bytes`](Self::bytes) must have been dropped.
    pub(crate) fn unmapped(self) -> wgpu::Buffer {
        self.staging.unmap();
        self.staging
    }
}

/// `bytes` need not be aligned for `T`.
pub(crate) fn values<T: Pod>(bytes: &[u8]) -> impl Iterator<Item = T> {
    bytes
        .chunks_exact(size_of::<T>())
        .map(bytemuck::pod_read_unaligned)
}

/// Blocks until the values have been appended to `read`.
#[cfg(test)]
pub(crate) fn read<T: Pod>(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    encoder: wgpu::CommandEncoder,
    parts: &[ReadRange<'_>],
    read: &mut Vec<T>,
) -> Result<(), Error> {
    let size = parts.iter().map(|&(_, _, size)| size).sum();
    let reading = submit(queue, encoder, parts, staging(device, size));
    device
        .poll(wgpu::PollType::wait_indefinitely())
        .map_err(Error::device_failed)?;
    read.extend(values::<T>(&pollster::block_on(reading.bytes())?));
    Ok(())
}
