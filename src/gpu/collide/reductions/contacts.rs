//! Computes on the GPU the contacts of each sphere: a list of all pairs that contain the sphere.
//! The CPU version is in `src/reduce/contacts.rs`.

use wgpu::BufferUsages;

use super::super::stages::Stage;
use super::maker::ReductionMaker;
use super::sort::{By, Sorter};
use crate::Error;
use crate::gpu::device::dispatch::workgroups;
use crate::gpu::device::named_buffers::NamedBuffers;

pub(crate) struct ContactBuffers {
    /// For each sphere, the position in `indices` of its first contact. After the last sphere, one
    /// more entry marks the end of its contacts.
    pub(crate) offsets: wgpu::Buffer,
    /// Contacts of all spheres, sphere by sphere, as indices into the sorted list of pairs.
    pub(crate) indices: wgpu::Buffer,
    /// For each sphere s, the number of pairs (a, b) with a < s. This is the position of the first
    /// pair (s, b) in the list of pairs that is sorted by sphere a.
    pub(crate) starts: wgpu::Buffer,
    /// The pairs (a, b), sorted by sphere b. Each entry has two numbers: the index of sphere b, and
    /// the index of the pair in the list that is sorted by sphere a. The spheres of a second set
    /// are numbered after those of the first set.
    pub(crate) by_b: wgpu::Buffer,
}

impl ReductionMaker<'_> {
    /// Makes the buffers of each sphere's contacts, and appends the shader stage that fills them.
    /// The buffers of the sorted list of pairs must have been made before.
    pub(super) fn contacts(
        &mut self,
        sorter: &Sorter,
        stages: &mut Vec<Stage>,
    ) -> Result<ContactBuffers, Error> {
        let (rows, pairs) = (self.buffers.capacity.spheres + 1, self.pairs());
        let (none, source) = (BufferUsages::empty(), BufferUsages::COPY_SRC);
        let made = &mut self.made;
        let starts =
            made.array::<u32>("contact_starts", "first pair of each sphere", rows, none)?;
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
        Ok(ContactBuffers {
            offsets,
            indices,
            starts,
            by_b: sorted,
        })
    }
}
