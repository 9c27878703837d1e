//! Copies the pairs that the device has left open, each with the values of its two spheres, into a
//! GPU buffer. From this copy, the host decides exactly whether the spheres touch.

use super::read_layout::ReadRoom;
use crate::Error;
use crate::gpu::collide::buffers::Buffers;
use crate::gpu::device::device_kernels::DeviceKernels;
use crate::gpu::device::dispatch::{Dispatch, workgroups};
use crate::gpu::device::named_buffers::NamedBuffers;
use crate::gpu::device::shader::layout::{Gathered, GatheredWall};

#[derive(Clone)]
pub(crate) struct Gathering {
    pub(crate) room: ReadRoom,
    pub(crate) buffer: wgpu::Buffer,
    /// The number of copied pairs.
    count: wgpu::Buffer,
    /// Each with a copy of its sphere. `None` without walls.
    pub(crate) walls: Option<wgpu::Buffer>,
    dispatches: Vec<Dispatch>,
}

impl Gathering {
    /// Must be called inside a wgpu error scope.
    pub(crate) fn new(kernels: &DeviceKernels, b: &Buffers, room: ReadRoom) -> Result<Self, Error> {
        kernels.context.probe()?;
        let device = &kernels.context.device;
        let make = |label, count: u64, size: usize| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                // wgpu does not allow an empty binding.
                size: count.max(1) * size as u64,
                usage: wgpu::BufferUsages::STORAGE
                    | wgpu::BufferUsages::COPY_SRC
                    | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let buffer = make("carom gathered pairs", room.grazing, size_of::<Gathered>());
        let count = make("carom count of gathered pairs", 1, size_of::<u32>());
        let mut own = NamedBuffers::default().with::<Gathered>("gathered", &buffer);
        own.one::<u32>("gathered_count", &count);
        let binder = kernels.binder();
        let (kernel, over) = (&kernels.gather.gather, workgroups(b.capacity.pairs));
        let mut dispatches = vec![binder.dispatch(kernel, &[&b.named, &own], over)?];
        let mut walls = None;
        if b.walls.is_some() {
            let size = size_of::<GatheredWall>();
            let buffer = make("carom gathered wall collisions", room.walls, size);
            let own = NamedBuffers::default().with::<GatheredWall>("gathered_walls", &buffer);
            let (kernel, over) = (&kernels.walls()?.gather_walls, workgroups(room.walls));
            dispatches.push(binder.dispatch(kernel, &[&b.named, &own], over)?);
            walls = Some(buffer);
        }
        Ok(Self {
            room,
            buffer,
            count,
            walls,
            dispatches,
        })
    }

    pub(crate) fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.clear_buffer(&self.count, 0, None);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("carom gather"),
            timestamp_writes: None,
        });
        for dispatch in &self.dispatches {
            dispatch.record(&mut pass);
        }
    }
}
