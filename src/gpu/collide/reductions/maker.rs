//! Makes the GPU buffers and shader dispatches of the reductions.

use wgpu::BufferUsages;

use super::super::buffers::Buffers;
use crate::Error;
use crate::gpu::device::allocator::{Allocator, ScanTable};
use crate::gpu::device::dispatch::{Binder, Dispatch};
use crate::gpu::device::named_buffers::NamedBuffers;
use crate::gpu::device::shader::kernels::{Compiled, Reduce, Stages, WallKernels};
use crate::gpu::device::shader::layout::CaromCollision;

pub(super) struct ReductionMaker<'a> {
    pub(super) binder: Binder<'a>,
    pub(super) stages: &'a Stages,
    pub(super) kernels: &'a Reduce,
    pub(super) walls: Option<&'a WallKernels>,
    pub(super) buffers: &'a Buffers,
    pub(super) made: Allocator<'a>,
    /// Must be zero when a step begins.
    pub(super) cleared: Vec<wgpu::Buffer>,
}

impl ReductionMaker<'_> {
    /// At least 1, because a buffer binding cannot be empty.
    pub(super) fn pairs(&self) -> u64 {
        self.buffers.pairs.size() / size_of::<CaromCollision>() as u64
    }

    /// The number of pairs of each row, later the ends of the rows.
    pub(super) fn rows(
        &mut self,
        name: &'static str,
        what: &'static str,
    ) -> Result<ScanTable, Error> {
        let rows = self.buffers.capacity.spheres + 1;
        let table = (self.made).table(name, what, rows, BufferUsages::COPY_DST)?;
        self.cleared
            .extend(table.levels.first().map(|rows| rows.buffer.clone()));
        Ok(table)
    }

    /// Binds each variable of the shader to carom's buffer, or that in `more`, of the same name.
    pub(super) fn dispatch(
        &self,
        kernel: &Compiled,
        more: &NamedBuffers,
        workgroups: u64,
    ) -> Result<Dispatch, Error> {
        let sources = [&self.buffers.named, &self.made.named, more];
        self.binder.dispatch(kernel, &sources, workgroups)
    }
}
