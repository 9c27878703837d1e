//! Computes on the GPU the contacts of each sphere: a list of all pairs that contain the sphere.
//! The CPU version is in `src/reduce/contacts.rs`.

use wgpu::BufferUsages;

use super::super::scan::scan;
use super::super::stages::Stage;
use super::maker::ReductionMaker;
use super::sort::{Items, Sorter};
use crate::Error;
use crate::gpu::device::dispatch::workgroups;
use crate::gpu::device::named_buffers::NamedBuffers;

pub(crate) struct ContactBuffers {
    /// The position of each sphere's first contact in `indices`, and the end of the last.
    pub(crate) offsets: wgpu::Buffer,
    /// As indices of the sorted list, sphere by sphere.
    pub(crate) indices: wgpu::Buffer,
    /// For each sphere s, the number of pairs with a < s.
    pub(crate) starts: wgpu::Buffer,
    /// The pairs sorted by b: the index of b, and the index in the sorted list. A second
    /// set's indices follow those of the first.
    pub(crate) by_b: wgpu::Buffer,
}

impl ReductionMaker<'_> {
    /// The buffers of the sorted list must have been made before.
    pub(super) fn contacts(
        &mut self,
        sorter: &Sorter,
        stages: &mut Vec<Stage>,
    ) -> Result<ContactBuffers, Error> {
        let (rows, pairs) = (self.buffers.capacity.spheres + 1, self.pairs());
        let rows_of_b = self.rows("contact_rows", "rows of the contacts")?;
        let (none, source) = (BufferUsages::empty(), BufferUsages::COPY_SRC);
        let made = &mut self.made;
        let starts =
            made.array::<u32>("contact_starts", "first pair of each sphere", rows, none)?;
        let offsets = made.array::<u32>("contact_offsets", "offsets of contacts", rows, source)?;
        let indices =
            made.array::<u32>("contact_indices", "indices of contacts", 2 * pairs, source)?;
        let [placed, by_b] = &sorter.items;
        let named = NamedBuffers::default()
            .with::<[u32; 4]>("items_after", placed)
            .with::<[u32; 4]>("pairs_by_b", by_b);
        let kernels = self.kernels;
        let (over, over_all) = (workgroups(pairs), workgroups(pairs.max(rows)));
        let mut dispatches = vec![self.dispatch(&kernels.contacts_count, &named, over_all)?];
        dispatches.extend(scan(self.binder, self.stages, &rows_of_b)?);
        dispatches.push(self.dispatch(&kernels.contacts_place, &named, over)?);
        dispatches.extend(sorter.sort(self, Items::Distinct, &rows_of_b)?);
        dispatches.push(self.dispatch(&kernels.contacts, &named, over_all)?);
        stages.push(Stage::new("contacts", dispatches));
        Ok(ContactBuffers {
            offsets,
            indices,
            starts,
            by_b: by_b.clone(),
        })
    }
}
