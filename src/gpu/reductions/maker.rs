//! Makes the GPU buffers and the shader dispatches of the reductions (results computed from the list of
//! pairs).

use super::super::allocator::Allocator;
use super::super::buffers::Buffers;
use super::super::dispatch::{Binder, Dispatch};
use super::super::named_buffers::NamedBuffers;
use super::super::shader::kernels::{Compiled, Reduce, Stages};
use super::super::shader::layout::CaromCollision;
use crate::Error;

/// Everything that a reduction (a result computed from the list of pairs) needs to make its GPU buffers and
/// shader dispatches.
pub(super) struct Maker<'a> {
    pub(super) binder: Binder<'a>,
    /// Compiled shaders that find the pairs. The reductions use the prefix-sum shaders among them.
    pub(super) stages: &'a Stages,
    pub(super) kernels: &'a Reduce,
    /// GPU buffers of the shaders that find the pairs.
    pub(super) buffers: &'a Buffers,
    /// Buffers of the reductions that have been made so far.
    pub(super) made: Allocator<'a>,
}

impl Maker<'_> {
    /// Returns the capacity of the list of pairs, in pairs. It is at least 1, because a buffer binding cannot
    /// be empty.
    pub(super) fn pairs(&self) -> u64 {
        self.buffers.pairs.size() / size_of::<CaromCollision>() as u64
    }

    /// Makes a dispatch of a compute shader. Each buffer variable of the shader is bound to the buffer of the
    /// same name, which may be a buffer of the search for pairs, of a reduction, or of `more`.
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
