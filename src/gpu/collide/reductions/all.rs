//! The GPU buffers and shader stages of all requested reductions.

use super::super::buffers::Buffers;
use super::super::stages::Stage;
use super::changes::ChangeBuffers;
use super::contacts::ContactBuffers;
use super::earliest::EarliestBuffers;
use super::maker::ReductionMaker;
use super::sort::{SortedBuffers, Sorter};
use crate::Error;
use crate::gpu::device::allocator::Allocator;
use crate::gpu::device::dispatch::Binder;
use crate::gpu::device::shader::kernels::{Reduce, Stages, WallKernels};

/// The reductions that the application requested. Contacts and changes are computed from the sorted
/// list of pairs, so a request for one of them also creates the sorted list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) earliest: bool,
    pub(crate) sorted: bool,
    pub(crate) contacts: bool,
    pub(crate) changes: bool,
}

impl Wanted {
    #[cfg(test)]
    pub(crate) const ALL: Self = Self {
        earliest: true,
        sorted: true,
        contacts: true,
        changes: true,
    };

    fn needs_sorted(self) -> bool {
        let Self {
            earliest: _,
            sorted,
            contacts,
            changes,
        } = self;
        sorted || contacts || changes
    }
}

/// The compiled kernels of the reductions.
#[derive(Clone, Copy)]
pub(crate) struct ReduceKernels<'a> {
    pub(crate) stages: &'a Stages,
    pub(crate) reduce: &'a Reduce,
    /// The kernels of walls, if the buffers were made for walls.
    pub(crate) walls: Option<&'a WallKernels>,
}

#[derive(Default)]
pub(crate) struct Reductions {
    pub(crate) earliest: Option<EarliestBuffers>,
    pub(crate) sorted: Option<SortedBuffers>,
    pub(crate) contacts: Option<ContactBuffers>,
    pub(crate) changes: Option<ChangeBuffers>,
    stages: Vec<Stage>,
    /// GPU buffers whose contents are not kept from step to step.
    #[cfg(test)]
    pub(super) volatile: Vec<wgpu::Buffer>,
}

impl Reductions {
    pub(crate) fn new(
        binder: Binder<'_>,
        kernels: ReduceKernels<'_>,
        buffers: &Buffers,
        limits: &wgpu::Limits,
        wanted: Wanted,
    ) -> Result<Self, Error> {
        let mut maker = ReductionMaker {
            binder,
            stages: kernels.stages,
            kernels: kernels.reduce,
            walls: kernels.walls,
            buffers,
            made: Allocator::new(binder.device, limits),
        };
        // The pattern names all fields of the struct, so the compiler points out a new field that
        // is not used here.
        let Wanted {
            earliest,
            sorted: _,
            contacts,
            changes,
        } = wanted;
        let mut all = Self::default();
        if earliest {
            all.earliest = Some(maker.earliest(&mut all.stages)?);
        }
        if wanted.needs_sorted() {
            let sorter = Sorter::new(&mut maker)?;
            all.sorted = Some(maker.sorted(&sorter, &mut all.stages)?);
            if contacts {
                all.contacts = Some(maker.contacts(&sorter, &mut all.stages)?);
            }
            if changes {
                all.changes = Some(maker.changes(&mut all.stages)?);
            }
        }
        #[cfg(test)]
        {
            let kept = |buffer: &wgpu::Buffer| {
                let changes = all.changes.as_ref();
                changes.is_some_and(|changes| changes.keeps(buffer))
            };
            maker.made.all.retain(|buffer| !kept(buffer));
            all.volatile = maker.made.all;
        }
        Ok(all)
    }

    /// Removes and returns the shader stages of the reductions, for the caller to run after the
    /// stages that find the pairs.
    pub(crate) fn take_stages(&mut self) -> Vec<Stage> {
        std::mem::take(&mut self.stages)
    }

    /// Records a copy of the pairs of the last complete step from `old`, the buffers that `self`
    /// replaces. From this copy, the next step can tell which pairs began, lasted or ended. If
    /// `old` has room for more pairs than the new buffers, nothing is copied, and the next step
    /// reports that all its pairs began.
    pub(crate) fn continue_from(&self, encoder: &mut wgpu::CommandEncoder, old: &Self) {
        if let (Some(new), Some(old)) = (&self.changes, &old.changes) {
            new.continue_from(encoder, old);
        }
    }
}
