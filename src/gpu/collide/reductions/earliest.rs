//! Computes on the GPU the earliest impact of each sphere. The CPU version is in
//! `src/reduce/earliest.rs`.

use wgpu::BufferUsages;

use super::super::stages::Stage;
use super::maker::ReductionMaker;
use crate::Error;
use crate::gpu::device::dispatch::workgroups;
use crate::gpu::device::named_buffers::NamedBuffers;
use crate::gpu::device::shader::layout::GpuEarliest;

pub(crate) struct EarliestBuffers {
    pub(crate) impacts: wgpu::Buffer,
    pub(crate) images: Option<wgpu::Buffer>,
}

impl ReductionMaker<'_> {
    pub(super) fn earliest(&mut self, stages: &mut Vec<Stage>) -> Result<EarliestBuffers, Error> {
        let spheres = self.buffers.capacity.spheres.max(1);
        let impacts = self.made.array::<GpuEarliest>(
            "earliest",
            "earliest impacts",
            spheres,
            BufferUsages::COPY_SRC,
        )?;
        let bits = NamedBuffers::default().with::<[u32; 4]>("pair_bits", &self.buffers.pairs);
        let pairs = workgroups(self.pairs());
        let walls = self.walls.zip(self.buffers.walls.as_ref());
        let walls = walls.map(|(kernels, buffers)| {
            let bits = NamedBuffers::default();
            let bits = bits.with::<[u32; 4]>("wall_bits", &buffers.collisions);
            (
                kernels,
                bits,
                workgroups(self.buffers.capacity.wall_collisions),
            )
        });
        let mut dispatches = vec![
            self.dispatch(&self.kernels.earliest_fill, &bits, workgroups(spheres))?,
            self.dispatch(&self.kernels.earliest_times, &bits, pairs)?,
            self.dispatch(&self.kernels.earliest_partners, &bits, pairs)?,
        ];
        if let Some((kernels, bits, over)) = &walls {
            let times = self.dispatch(&kernels.wall_times, bits, *over)?;
            // A sphere may hit a sphere or a wall first. So the times for pairs and
            // walls come before the kernels that find what is hit.
            dispatches.insert(2, times);
            dispatches.push(self.dispatch(&kernels.wall_partners, bits, *over)?);
        }
        let mut images = None;
        if self.buffers.periodic.is_some() {
            let (name, what) = ("earliest_images", "images of the earliest impacts");
            let source = BufferUsages::COPY_SRC;
            images = Some(self.made.array::<u32>(name, what, spheres, source)?);
            let bits = bits.with::<[u32; 2]>("earliest_bits", &impacts);
            let kernels = self.kernels;
            let over = workgroups(spheres);
            dispatches.push(self.dispatch(&kernels.earliest_images_fill, &bits, over)?);
            dispatches.push(self.dispatch(&kernels.earliest_images, &bits, pairs)?);
            if let Some((kernels, bits, over)) = walls {
                let bits = bits.with::<[u32; 2]>("earliest_bits", &impacts);
                dispatches.push(self.dispatch(&kernels.wall_first_images, &bits, over)?);
            }
        }
        stages.push(Stage::new("earliest", dispatches));
        Ok(EarliestBuffers { impacts, images })
    }
}
