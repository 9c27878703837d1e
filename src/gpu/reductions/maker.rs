//! What every reduction is made with.

use super::super::allocator::Allocator;
use super::super::buffers::Buffers;
use super::super::dispatch::{Binder, Dispatch};
use super::super::named_buffers::NamedBuffers;
use super::super::shader::kernels::{Compiled, Reduce, Stages};
use super::super::shader::layout::CaromCollision;
use crate::Error;

/// Makes the buffers and dispatches of reductions.
pub(super) struct Maker<'a> {
    pub(super) binder: Binder<'a>,
    /// Where the kernels of the scan are.
    pub(super) stages: &'a Stages,
    pub(super) kernels: &'a Reduce,
    /// The buffers of the step.
    pub(super) buffers: &'a Buffers,
    /// The buffers of reductions.
    pub(super) made: Allocator<'a>,
}

impl Maker<'_> {
    /// How many pairs there is room for; at least one, as no binding is empty.
    pub(super) fn pairs(&self) -> u64 {
        self.buffers.pairs.size() / size_of::<CaromCollision>() as u64
    }

    /// A dispatch that binds buffers of the step, of reductions, and `more`.
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
