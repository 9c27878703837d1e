//! Readbacks of GPU buffers for which carom itself submits the copy. The detector and the tests use
//! them.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

use bytemuck::Pod;

use crate::Error;

/// A part of a GPU buffer: the buffer, then offset and size in bytes.
pub(crate) type ReadRange<'a> = (&'a wgpu::Buffer, u64, u64);

pub(crate) struct Reading {
    staging: wgpu::Buffer,
    arrival: Arc<Mutex<Mapping>>,
}

#[derive(Default)]
struct Mapping {
    mapped: Option<Result<(), wgpu::BufferAsyncError>>,
    task: Option<Waker>,
}

/// Records the copy of `parts`, one after the other, to a staging buffer, and submits `encoder`.
///
/// The copied buffers need the usage `COPY_SRC`. The copy arrives only while the device is polled.
pub(crate) fn submit(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    mut encoder: wgpu::CommandEncoder,
    parts: &[ReadRange<'_>],
) -> Reading {
    let staging = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("carom read back"),
        size: parts.iter().map(|&(_, _, size)| size).sum(),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut offset = 0;
    for &(buffer, from, size) in parts {
        encoder.copy_buffer_to_buffer(buffer, from, &staging, offset, size);
        offset += size;
    }
    queue.submit([encoder.finish()]);
    let arrival: Arc<Mutex<Mapping>> = Arc::default();
    let arrived = arrival.clone();
    staging
        .slice(..)
        .map_async(wgpu::MapMode::Read, move |mapped| {
            let mut arrival = arrived.lock().unwrap_or_else(PoisonError::into_inner);
            arrival.mapped = Some(mapped);
            let task = arrival.task.take();
            drop(arrival);
            if let Some(task) = task {
                task.wake();
            }
        });
    Reading { staging, arrival }
}

impl Reading {
    pub(crate) async fn take<T: Pod>(self, read: &mut Vec<T>) -> Result<(), Error> {
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
        let mapped = self
            .staging
            .slice(..)
            .get_mapped_range()
            .map_err(Error::device_failed)?;
        // The mapped memory may not be aligned for `T`, so each value is read without alignment.
        read.extend(
            mapped
                .chunks_exact(size_of::<T>())
                .map(bytemuck::pod_read_unaligned::<T>),
        );
        Ok(())
    }
}

/// Copies the ranges `parts` of GPU buffers to the host, and blocks until their values have been
/// appended to `read`.
#[cfg(test)]
pub(crate) fn read<T: Pod>(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    encoder: wgpu::CommandEncoder,
    parts: &[ReadRange<'_>],
    read: &mut Vec<T>,
) -> Result<(), Error> {
    let reading = submit(device, queue, encoder, parts);
    device
        .poll(wgpu::PollType::wait_indefinitely())
        .map_err(Error::device_failed)?;
    pollster::block_on(reading.take(read))
}
