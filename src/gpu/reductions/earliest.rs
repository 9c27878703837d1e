//! Computes on the GPU the earliest impact of each sphere. The CPU version is in `src/reduce/earliest.rs`.

use wgpu::BufferUsages;

use super::super::dispatch::workgroups;
use super::super::named_buffers::NamedBuffers;
use super::super::shader::layout::GpuEarliest;
use super::super::stages::Stage;
use super::maker::Maker;
use crate::Error;

impl Maker<'_> {
    pub(super) fn earliest(&mut self, stages: &mut Vec<Stage>) -> Result<wgpu::Buffer, Error> {
        let spheres = self.buffers.capacity.spheres.max(1);
        let earliest = self.made.array::<GpuEarliest>(
            "earliest",
            "earliest impacts",
            spheres,
            BufferUsages::COPY_SRC,
        )?;
        let bits = NamedBuffers::default().with::<[u32; 4]>("pair_bits", &self.buffers.pairs);
        let pairs = workgroups(self.pairs());
        stages.push(Stage::new(
            "earliest",
            vec![
                self.dispatch(&self.kernels.earliest_fill, &bits, workgroups(spheres))?,
                self.dispatch(&self.kernels.earliest_times, &bits, pairs)?,
                self.dispatch(&self.kernels.earliest_partners, &bits, pairs)?,
            ],
        ));
        Ok(earliest)
    }
}
