//! Reading buffers back, blocking.

use std::sync::mpsc;

use bytemuck::Pod;

use crate::Error;

/// Copies the first `count` elements out of a buffer that is a copy source.
pub(crate) fn read<T: Pod>(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    mut encoder: wgpu::CommandEncoder,
    ranges: &[(&wgpu::Buffer, u64)],
) -> Result<Vec<T>, Error> {
    let size: u64 = ranges.iter().map(|&(_, size)| size).sum();
    let available = device.limits().max_buffer_size;
    if size > available {
        return Err(Error::DeviceLimit {
            what: "reading back",
            limit: "max_buffer_size",
            needed: size,
            available,
        });
    }
    let staging = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("carom read back"),
        size,
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut offset = 0;
    for &(buffer, size) in ranges {
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, offset, size);
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
    Ok(bytemuck::pod_collect_to_vec(&mapped))
}
