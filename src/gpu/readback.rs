//! Reading buffers back, blocking.

use std::sync::mpsc;

use bytemuck::Pod;

use crate::Error;

/// A part of a buffer: where it begins and how long it is, in bytes.
pub(crate) type Part<'a> = (&'a wgpu::Buffer, u64, u64);

/// Submits `encoder` and appends what then stands in parts of buffers that are
/// copy sources, one after the other, to `read`.
pub(crate) fn read<T: Pod>(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    mut encoder: wgpu::CommandEncoder,
    parts: &[Part<'_>],
    read: &mut Vec<T>,
) -> Result<(), Error> {
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
    let (sender, receiver) = mpsc::channel();
    staging
        .slice(..)
        .map_async(wgpu::MapMode::Read, move |result| {
            // Nobody waits any more when this fails.
            let _ = sender.send(result);
        });
    let failed = |error: &dyn std::fmt::Display| Error::Device(error.to_string());
    device
        .poll(wgpu::PollType::wait_indefinitely())
        .map_err(|error| failed(&error))?;
    receiver
        .try_recv()
        .map_err(|error| failed(&error))?
        .map_err(|error| failed(&error))?;
    let mapped = staging
        .slice(..)
        .get_mapped_range()
        .map_err(|error| failed(&error))?;
    // Mapped bytes promise no alignment.
    read.extend(
        mapped
            .chunks_exact(size_of::<T>())
            .map(bytemuck::pod_read_unaligned::<T>),
    );
    Ok(())
}
