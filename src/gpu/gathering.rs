//! The GPU buffer that holds each pair with its two spheres. From this buffer, the host decides
//! exactly whether the spheres touch.

use super::buffers::Buffers;
use super::device_kernels::DeviceKernels;
use super::dispatch::{Dispatch, workgroups};
use super::named_buffers::NamedBuffers;
use super::shader::layout::Gathered;
use crate::Error;

#[derive(Clone)]
pub(super) struct Gathering {
    pub(super) room: u64,
    pub(super) buffer: wgpu::Buffer,
    dispatch: Dispatch,
}

impl Gathering {
    /// Creates the GPU buffer of pairs with their spheres. Must be called inside a wgpu error
    /// scope.
    pub(super) fn new(kernels: &DeviceKernels, b: &Buffers, room: u64) -> Result<Self, Error> {
        kernels.context.probe()?;
        let device = &kernels.context.device;
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("carom gathered pairs"),
            // wgpu does not allow an empty binding, so the buffer has room for at least one pair.
            size: room.max(1) * size_of::<Gathered>() as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let own = NamedBuffers::default().with::<Gathered>("gathered", &buffer);
        let dispatch = kernels.binder().dispatch(
            &kernels.gather.gather,
            &[&b.named, &own],
            workgroups(room),
        )?;
        Ok(Self {
            room,
            buffer,
            dispatch,
        })
    }

    pub(super) fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("carom gather"),
            timestamp_writes: None,
        });
        self.dispatch.record(&mut pass);
    }
}
