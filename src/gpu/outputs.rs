//! What a step leaves on the GPU, for shaders of the application.

use super::collision_buffers::CollisionBuffers;
use crate::Error;

impl CollisionBuffers {
    /// The pairs: `array<CaromCollision>` in [`WGSL`](super::WGSL). As many as
    /// `pairs` in the [`results`](Self::results), in any order. Usages `STORAGE` and
    /// `COPY_SRC`.
    pub fn pairs(&self) -> &wgpu::Buffer {
        &self.buffers.pairs
    }

    /// Counters and status: one `CaromResults`. Usages `STORAGE` and `COPY_SRC`.
    pub fn results(&self) -> &wgpu::Buffer {
        &self.buffers.results
    }

    /// Arguments for `dispatch_workgroups_indirect` over the pairs, for workgroups of
    /// `CAROM_WORKGROUP`. Usages `INDIRECT` and `COPY_SRC`.
    pub fn dispatch(&self) -> &wgpu::Buffer {
        &self.buffers.pairs_dispatch
    }

    /// Each sphere's earliest impact: `array<CaromEarliest>`, as many as there may be
    /// spheres. Of two sets, spheres of the second follow those of the first. Ties go
    /// to the partner of the smaller index; grazing pairs count as touching. Usages
    /// `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// [`Error::NotAskedFor`] without [`BufferOptions::earliest`](super::BufferOptions::earliest).
    pub fn earliest(&self) -> Result<&wgpu::Buffer, Error> {
        asked(self.reductions.earliest.as_ref(), "earliest")
    }

    /// The pairs sorted by (a, b), each once: `array<CaromCollision>`, as many as
    /// `sorted` in the [`results`](Self::results). Usages `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// [`Error::NotAskedFor`] without [`BufferOptions::sorted`](super::BufferOptions::sorted), or what brings it.
    pub fn sorted(&self) -> Result<&wgpu::Buffer, Error> {
        let sorted = self.reductions.sorted.as_ref();
        asked(sorted.map(|sorted| &sorted.list), "sorted")
    }

    /// Arguments for `dispatch_workgroups_indirect` over the sorted pairs, as
    /// [`dispatch`](Self::dispatch) has them for the others.
    ///
    /// # Errors
    /// As [`sorted`](Self::sorted).
    pub fn sorted_dispatch(&self) -> Result<&wgpu::Buffer, Error> {
        let sorted = self.reductions.sorted.as_ref();
        asked(sorted.map(|sorted| &sorted.dispatch), "sorted")
    }

    /// Where the row of each sphere begins in the
    /// [`contact_indices`](Self::contact_indices): `array<u32>`, one more than there
    /// may be spheres. Row i goes from word i to word i + 1. Of two sets, rows of the
    /// second follow those of the first. Usages `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// [`Error::NotAskedFor`] without [`BufferOptions::contacts`](super::BufferOptions::contacts).
    pub fn contact_offsets(&self) -> Result<&wgpu::Buffer, Error> {
        let contacts = self.reductions.contacts.as_ref();
        asked(contacts.map(|contacts| &contacts.offsets), "contacts")
    }

    /// Indices of each sphere's own pairs in the [`sorted`](Self::sorted) list, row by
    /// row, in the order of its partners: `array<u32>`. Usages `STORAGE` and
    /// `COPY_SRC`.
    ///
    /// # Errors
    /// [`Error::NotAskedFor`] without [`BufferOptions::contacts`](super::BufferOptions::contacts).
    pub fn contact_indices(&self) -> Result<&wgpu::Buffer, Error> {
        let contacts = self.reductions.contacts.as_ref();
        asked(contacts.map(|contacts| &contacts.indices), "contacts")
    }

    /// The pairs that began with this step, then those that last, then those that
    /// ended, since the last step whose list was whole: `array<vec2<u32>>` of (a, b),
    /// each part sorted; `began`, `lasted` and `ended` in the
    /// [`results`](Self::results) tell how many. Usages `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// [`Error::NotAskedFor`] without [`BufferOptions::changes`](super::BufferOptions::changes).
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
