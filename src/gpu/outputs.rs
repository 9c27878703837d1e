//! Access to the results of a step on the GPU, for the application's shaders.

use super::collision_buffers::CollisionBuffers;
use crate::Error;

impl CollisionBuffers {
    /// Returns the buffer of the pairs: an `array<CaromCollision>` of [`WGSL`](super::WGSL).
    ///
    /// The first `pairs` elements are valid, where `pairs` is a field of the
    /// [`results`](Self::results). The elements are in no particular order. Usages: `STORAGE` and
    /// `COPY_SRC`.
    pub fn pairs(&self) -> &wgpu::Buffer {
        &self.buffers.pairs
    }

    /// Returns the buffer of the counters and the status: one `CaromResults` of
    /// [`WGSL`](super::WGSL). Usages: `STORAGE` and `COPY_SRC`.
    pub fn results(&self) -> &wgpu::Buffer {
        &self.buffers.results
    }

    /// Returns the arguments of a `dispatch_workgroups_indirect` over the pairs, with one
    /// invocation per pair in workgroups of `CAROM_WORKGROUP` invocations. Usages: `INDIRECT` and
    /// `COPY_SRC`.
    pub fn dispatch(&self) -> &wgpu::Buffer {
        &self.buffers.pairs_dispatch
    }

    /// Returns the buffer of each sphere's earliest impact: an `array<CaromEarliest>`. Its number
    /// of elements is the capacity for spheres.
    ///
    /// With two sets, the spheres of the second set follow those of the first. If several impacts
    /// of a sphere are the earliest, the partner with the smallest index is chosen. Grazing pairs
    /// count as touching. Usages: `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// [`Error::NotAskedFor`] if [`BufferOptions::earliest`](super::BufferOptions::earliest) was
    /// not set.
    pub fn earliest(&self) -> Result<&wgpu::Buffer, Error> {
        asked(self.reductions.earliest.as_ref(), "earliest")
    }

    /// Returns the buffer of the pairs sorted by (a, b), with each pair once: an
    /// `array<CaromCollision>`.
    ///
    /// The first `sorted` elements are valid, where `sorted` is a field of the
    /// [`results`](Self::results). Usages: `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// [`Error::NotAskedFor`] if none of the options `sorted`, `contacts` and `changes` of
    /// [`BufferOptions`](super::BufferOptions::sorted) was set.
    pub fn sorted(&self) -> Result<&wgpu::Buffer, Error> {
        let sorted = self.reductions.sorted.as_ref();
        asked(sorted.map(|sorted| &sorted.list), "sorted")
    }

    /// Returns the arguments of a `dispatch_workgroups_indirect` over the sorted pairs, in the
    /// same form as [`dispatch`](Self::dispatch). Usages: `INDIRECT` and `COPY_SRC`.
    ///
    /// # Errors
    /// The same as those of [`sorted`](Self::sorted).
    pub fn sorted_dispatch(&self) -> Result<&wgpu::Buffer, Error> {
        let sorted = self.reductions.sorted.as_ref();
        asked(sorted.map(|sorted| &sorted.dispatch), "sorted")
    }

    /// Returns the buffer of offsets into [`contact_indices`](Self::contact_indices): for each
    /// sphere, the offset at which its row of contacts begins. It is an `array<u32>`, with one
    /// element more than the capacity for spheres.
    ///
    /// The row of sphere i begins at the offset in element i, and ends before the offset in element
    /// i + 1. With two sets, the rows of the second set follow those of the first. Usages:
    /// `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// [`Error::NotAskedFor`] if [`BufferOptions::contacts`](super::BufferOptions::contacts) was
    /// not set.
    pub fn contact_offsets(&self) -> Result<&wgpu::Buffer, Error> {
        let contacts = self.reductions.contacts.as_ref();
        asked(contacts.map(|contacts| &contacts.offsets), "contacts")
    }

    /// Returns the buffer that has a row of contacts for each sphere: the indices of the sphere's
    /// own pairs in the [`sorted`](Self::sorted) list. It is an `array<u32>`. The rows follow each
    /// other in the order of the spheres. Within a row, the pairs are in the order of the sphere's
    /// partners. Usages: `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// [`Error::NotAskedFor`] if [`BufferOptions::contacts`](super::BufferOptions::contacts) was
    /// not set.
    pub fn contact_indices(&self) -> Result<&wgpu::Buffer, Error> {
        let contacts = self.reductions.contacts.as_ref();
        asked(contacts.map(|contacts| &contacts.indices), "contacts")
    }

    /// Returns the buffer of the changes since the last step whose list of pairs was complete: an
    /// `array<vec2<u32>>` of (a, b).
    ///
    /// The pairs that began with this step come first, then the pairs that last, then the pairs
    /// that ended. Each of these three parts is sorted. The fields `began`, `lasted` and `ended` of
    /// the [`results`](Self::results) are the numbers of pairs in the three parts. Usages:
    /// `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// [`Error::NotAskedFor`] if [`BufferOptions::changes`](super::BufferOptions::changes) was not
    /// set.
    pub fn changes(&self) -> Result<&wgpu::Buffer, Error> {
        let changes = self.reductions.changes.as_ref();
        asked(changes.map(|changes| &changes.list), "changes")
    }
}

fn asked<'a>(
    buffer: Option<&'a wgpu::Buffer>,
    option: &'static str,
) -> Result<&'a wgpu::Buffer, Error> {
    buffer.ok_or(Error::NotAskedFor { option })
}
