//! Methods that return the GPU buffers with the results of a step, for the application's shaders.

use super::collision_buffers::CollisionBuffers;
use crate::Error;

impl CollisionBuffers {
    /// Returns the GPU buffer of the pairs of spheres that touch: an `array<CaromCollision>` of
    /// [`WGSL`](super::WGSL).
    ///
    /// The first `pairs` elements of the buffer are valid, where `pairs` is a field of the
    /// [`results`](Self::results). The pairs are in no particular order. The buffer has the usages
    /// `STORAGE` and `COPY_SRC`.
    pub fn pairs(&self) -> &wgpu::Buffer {
        &self.buffers.pairs
    }

    /// Returns the GPU buffer of the counters and the status of the step: one `CaromResults` of
    /// [`WGSL`](super::WGSL). The buffer has the usages `STORAGE` and `COPY_SRC`.
    pub fn results(&self) -> &wgpu::Buffer {
        &self.buffers.results
    }

    /// Returns the GPU buffer of arguments for a `dispatch_workgroups_indirect` over the pairs,
    /// with one invocation per pair in workgroups of `CAROM_WORKGROUP` invocations. The buffer has
    /// the usages `INDIRECT` and `COPY_SRC`.
    pub fn dispatch(&self) -> &wgpu::Buffer {
        &self.buffers.pairs_dispatch
    }

    /// Returns the GPU buffer of each sphere's earliest impact: an `array<CaromEarliest>` of
    /// [`WGSL`](super::WGSL). Its number of elements is the capacity for spheres.
    ///
    /// With two sets, the spheres of the second set follow the spheres of the first. If a sphere
    /// has several earliest impacts at the same time, the buffer has the partner with the smallest
    /// index. Grazing pairs (too close to call in float32) count as touching. The buffer has the
    /// usages `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// [`Error::NotAskedFor`] if [`BufferOptions::earliest`](super::BufferOptions::earliest) was
    /// not set.
    pub fn earliest(&self) -> Result<&wgpu::Buffer, Error> {
        asked(self.reductions.earliest.as_ref(), "earliest")
    }

    /// Returns the GPU buffer of the pairs sorted by the indices (a, b) of their spheres, with each
    /// pair once: an `array<CaromCollision>` of [`WGSL`](super::WGSL).
    ///
    /// The first `sorted` elements of the buffer are valid, where `sorted` is a field of the
    /// [`results`](Self::results). The buffer has the usages `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// [`Error::NotAskedFor`] if none of the options `sorted`, `contacts` and `changes` of
    /// [`BufferOptions`](super::BufferOptions::sorted) was set.
    pub fn sorted(&self) -> Result<&wgpu::Buffer, Error> {
        let sorted = self.reductions.sorted.as_ref();
        asked(sorted.map(|sorted| &sorted.list), "sorted")
    }

    /// Returns the GPU buffer of arguments for a `dispatch_workgroups_indirect` over the sorted
    /// pairs, with one invocation per pair in workgroups of `CAROM_WORKGROUP` invocations. The
    /// buffer has the usages `INDIRECT` and `COPY_SRC`.
    ///
    /// # Errors
    /// [`Error::NotAskedFor`] if none of the options `sorted`, `contacts` and `changes` of
    /// [`BufferOptions`](super::BufferOptions::sorted) was set.
    pub fn sorted_dispatch(&self) -> Result<&wgpu::Buffer, Error> {
        let sorted = self.reductions.sorted.as_ref();
        asked(sorted.map(|sorted| &sorted.dispatch), "sorted")
    }

    /// Returns the GPU buffer of the offsets at which the contacts of each sphere begin in
    /// [`contact_indices`](Self::contact_indices): an `array<u32>` with one element more than the
    /// capacity for spheres.
    ///
    /// The contacts of sphere i begin at the offset in element i, and end before the offset in
    /// element i + 1. With two sets, the spheres of the second set follow the spheres of the first.
    /// The buffer has the usages `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// [`Error::NotAskedFor`] if [`BufferOptions::contacts`](super::BufferOptions::contacts) was
    /// not set.
    pub fn contact_offsets(&self) -> Result<&wgpu::Buffer, Error> {
        let contacts = self.reductions.contacts.as_ref();
        asked(contacts.map(|contacts| &contacts.offsets), "contacts")
    }

    /// Returns the GPU buffer of the contacts of each sphere: an `array<u32>` of indices into the
    /// [`sorted`](Self::sorted) list of pairs. The contacts of one sphere follow each other,
    /// ordered by the index of the other sphere. The contacts of different spheres are in the order
    /// of the spheres' indices. The buffer has the usages `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// [`Error::NotAskedFor`] if [`BufferOptions::contacts`](super::BufferOptions::contacts) was
    /// not set.
    pub fn contact_indices(&self) -> Result<&wgpu::Buffer, Error> {
        let contacts = self.reductions.contacts.as_ref();
        asked(contacts.map(|contacts| &contacts.indices), "contacts")
    }

    /// Returns the GPU buffer of the changes since the last step with a complete list of pairs: an
    /// `array<vec2<u32>>` of the indices (a, b) of each pair.
    ///
    /// The buffer contains first the pairs that began with this step, then the pairs that last,
    /// then the pairs that ended. Each of these three parts is sorted. The fields `began`, `lasted`
    /// and `ended` of the [`results`](Self::results) are the numbers of pairs in the three parts.
    /// The buffer has the usages `STORAGE` and `COPY_SRC`.
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
