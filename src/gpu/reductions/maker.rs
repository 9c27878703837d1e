//! Makes the buffers and the dispatches of the reductions.

use super::super::allocator::Allocator;
use super::super::buffers::Buffers;
use super::super::dispatch::{Binder, Dispatch};
use super::super::named_buffers::NamedBuffers;
use super::super::shader::kernels::{Compiled, Reduce, Stages};
use super::super::shader::layout::CaromCollision;
use crate::Error;

/// The inputs from which all reductions make their buffers and dispatches.
pub(super) struct Maker<'a> {
    pub(super) binder: Binder<'a>,
    /// The kernels of the stages that find the pairs. The reductions use the scan kernels among
    /// them.
    pub(super) stages: &'a Stages,
    pub(super) kernels: &'a Reduce,
    /// The buffers of the stages that find the pairs.
    pub(super) buffers: &'a Buffers,
    /// The buffers of the reductions that have been made so far.
    pub(super) made: Allocator<'a>,
}

impl Maker<'_> {
    /// Returns the number of pairs that the list of pairs has room for. It is at least 1, because a
    /// binding cannot be empty.
    pub(super) fn pairs(&self) -> u64 {
        self.buffers.pairs.size() / size_of::<CaromCollision>() as u64
    }

    /// Makes a dispatch of a kernel. Its variables are bound to the buffers of the same names:
    /// buffers of the stages that find the pairs, of the reductions, or of `more`.
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
