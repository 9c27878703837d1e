//! All reductions that are wanted.

use super::super::allocator::Allocator;
use super::super::buffers::Buffers;
use super::super::dispatch::Binder;
use super::super::shader::kernels::{Reduce, Stages};
use super::super::stages::Stage;
use super::changes::ChangeBuffers;
use super::contacts::ContactBuffers;
use super::maker::Maker;
use super::sort::{SortedBuffers, Sorter};
use crate::Error;

/// What is asked for. Contacts and changes are made from the sorted list, so that
/// either brings it.
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

    /// Whether the sorted list is wanted, or a reduction that is made from it.
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

/// The buffers of all that is wanted, and the stages that fill them.
#[derive(Default)]
pub(crate) struct Reductions {
    /// Time and partner of each sphere's first impact.
    pub(crate) earliest: Option<wgpu::Buffer>,
    pub(crate) sorted: Option<SortedBuffers>,
    pub(crate) contacts: Option<ContactBuffers>,
    pub(crate) changes: Option<ChangeBuffers>,
    /// To be recorded after those that find the pairs.
    stages: Vec<Stage>,
    /// All buffers but what is kept from step to step.
    #[cfg(test)]
    pub(super) volatile: Vec<wgpu::Buffer>,
}

impl Reductions {
    /// For pairs in `buffers`, with the capacity of these.
    pub(crate) fn new(
        binder: Binder<'_>,
        stages: &Stages,
        kernels: &Reduce,
        buffers: &Buffers,
        limits: &wgpu::Limits,
        wanted: Wanted,
    ) -> Result<Self, Error> {
        let mut maker = Maker {
            binder,
            stages,
            kernels,
            buffers,
            made: Allocator::new(binder.device, limits),
        };
        // All of it, so that a new reduction is not forgotten here.
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

    /// The stages, to be appended to those that find the pairs. There are none the
    /// second time.
    pub(crate) fn take_stages(&mut self) -> Vec<Stage> {
        std::mem::take(&mut self.stages)
    }

    /// Takes over what was kept of the last complete step, so that changes go on
    /// where new buffers replace smaller ones. Without this, or when they are not
    /// as large, everything begins anew.
    pub(crate) fn continue_from(&self, encoder: &mut wgpu::CommandEncoder, old: &Self) {
        if let (Some(new), Some(old)) = (&self.changes, &old.changes) {
            new.continue_from(encoder, old);
        }
    }
}
