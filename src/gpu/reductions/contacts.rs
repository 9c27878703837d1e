//! Each sphere's contacts. Twin of `src/reduce/contacts.rs`.

use wgpu::BufferUsages;

use super::super::dispatch::workgroups;
use super::super::named_buffers::NamedBuffers;
use super::super::stages::Stage;
use super::maker::Maker;
use super::sort::{By, Sorter};
use crate::Error;

/// The contacts of each sphere.
pub(crate) struct ContactBuffers {
    /// Where each sphere's row begins; one more word than spheres fit.
    pub(crate) offsets: wgpu::Buffer,
    /// Indices into the sorted list, row by row.
    pub(crate) indices: wgpu::Buffer,
}

impl Maker<'_> {
    /// Made from the sorted list.
    pub(super) fn contacts(
        &mut self,
        sorter: &Sorter,
        stages: &mut Vec<Stage>,
    ) -> Result<ContactBuffers, Error> {
        let (rows, pairs) = (self.buffers.capacity.spheres + 1, self.pairs());
        let (none, source) = (BufferUsages::empty(), BufferUsages::COPY_SRC);
        let made = &mut self.made;
        made.array::<u32>("contact_starts", "first pairs of the spheres", rows, none)?;
        let offsets = made.array::<u32>("contact_offsets", "offsets of contacts", rows, source)?;
        let indices =
            made.array::<u32>("contact_indices", "indices of contacts", 2 * pairs, source)?;
        let [first, _] = &sorter.items;
        let (sort, sorted) = sorter.sort(self, By::FirstWord, first)?;
        let dispatch = |kernel, by_b, count| {
            let named = NamedBuffers::default().with::<[u32; 4]>("pairs_by_b", by_b);
            self.dispatch(kernel, &named, workgroups(count))
        };
        let mut dispatches = vec![dispatch(&self.kernels.contacts_copy, first, pairs)?];
        dispatches.extend(sort);
        dispatches.push(dispatch(&self.kernels.contacts_rows, &sorted, rows)?);
        dispatches.push(dispatch(&self.kernels.contacts_fill, &sorted, pairs)?);
        stages.push(Stage::new("contacts", dispatches));
        Ok(ContactBuffers { offsets, indices })
    }
}
