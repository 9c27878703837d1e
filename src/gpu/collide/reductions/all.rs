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

/// Contacts and changes need the sorted list, too.
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
    pub(crate) walls: Option<&'a WallKernels>,
}

#[derive(Default)]
pub(crate) struct Reductions {
    pub(crate) earliest: Option<EarliestBuffers>,
    pub(crate) sorted: Option<SortedBuffers>,
    pub(crate) contacts: Option<ContactBuffers>,
    pub(crate) changes: Option<ChangeBuffers>,
    stages: Vec<Stage>,
    cleared: Vec<wgpu::Buffer>,
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
            cleared: Vec::new(),
        };
        // The compiler then points out a new field that is not used here.
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
        all.cleared = maker.cleared;
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

    pub(crate) fn take_stages(&mut self) -> Vec<Stage> {
        std::mem::take(&mut self.stages)
    }

    pub(crate) fn take_cleared(&mut self) -> Vec<wgpu::Buffer> {
        std::mem::take(&mut self.cleared)
    }

    /// Copies the pairs of the last complete step from `old`. If these might not fit, the
    /// next step reports that all its pairs began.
    pub(crate) fn continue_from(&self, encoder: &mut wgpu::CommandEncoder, old: &Self) {
        if let (Some(new), Some(old)) = (&self.changes, &old.changes) {
            new.continue_from(encoder, old);
        }
    }
}
