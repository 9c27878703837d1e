//! Makes the GPU buffers and shader dispatches of the reductions.

use super::super::buffers::Buffers;
use crate::Error;
use crate::gpu::device::allocator::Allocator;
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
}

impl ReductionMaker<'_> {
    /// At least 1, because a buffer binding cannot be empty.
    pub(super) fn pairs(&self) -> u64 {
        self.buffers.pairs.size() / size_of::<CaromCollision>() as u64
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
