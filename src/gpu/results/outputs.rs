//! Methods that return the GPU buffers with the results of a step.

use crate::Error;
use crate::gpu::collide::buffers::WallBuffers;
use crate::gpu::collide::collision_buffers::CollisionBuffers;

impl CollisionBuffers {
    /// Returns the GPU buffer of the pairs of spheres that touch: an `array<CaromCollision>` of
    /// [`WGSL`](crate::gpu::WGSL).
    ///
    /// The number of pairs in the buffer is the field `pairs` of the [`results`](Self::results).
    /// The elements after these pairs are not valid. The pairs are in no particular order. Usages:
    /// `STORAGE` and `COPY_SRC`.
    pub fn pairs(&self) -> &wgpu::Buffer {
        &self.buffers.pairs
    }

    /// Returns the GPU buffer with the image of the second sphere of each pair, in the order of
    /// [`pairs`](Self::pairs): an `array<u32>` to be read with `carom_image()` of
    /// [`WGSL`](crate::gpu::WGSL). Usages: `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns [`Error::NotAskedFor`] if
    /// [`BufferOptions::with_periodic`](crate::gpu::BufferOptions::with_periodic) was not set.
    pub fn pair_images(&self) -> Result<&wgpu::Buffer, Error> {
        let periodic = self.buffers.periodic.as_ref();
        asked(periodic.map(|periodic| &periodic.pair_images), "periodic")
    }

    /// Returns the GPU buffer of the step's counters and status: one `CaromResults` of
    /// [`WGSL`](crate::gpu::WGSL). Usages: `STORAGE` and `COPY_SRC`.
    pub fn results(&self) -> &wgpu::Buffer {
        &self.buffers.results
    }

    /// Returns the GPU buffer of arguments for a `dispatch_workgroups_indirect` over the pairs,
    /// with one invocation per pair in workgroups of `CAROM_WORKGROUP` invocations. Usages:
    /// `INDIRECT` and `COPY_SRC`.
    ///
    /// To get the index of its pair, an invocation passes the field `columns` of the [`results`](Self::results) to
    /// `carom_index()`. The field `pairs` is the number of pairs.
    pub fn dispatch(&self) -> &wgpu::Buffer {
        &self.buffers.pairs_dispatch
    }

    /// Returns the GPU buffer of each sphere's earliest impact: an `array<CaromEarliest>` of
    /// [`WGSL`](crate::gpu::WGSL), with as many elements as the capacity for spheres.
    ///
    /// Element i of the buffer is the earliest impact of sphere i. The spheres of a second set are
    /// numbered after those of the first set. If sphere i touches several spheres first at the same
    /// time, its element names the one with the smallest index. The element names a wall, marked by
    /// the constant `CAROM_WALL`, only if sphere i touches no sphere as early. Grazing pairs count
    /// as touching. Usages: `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns [`Error::NotAskedFor`] if
    /// [`BufferOptions::with_earliest`](crate::gpu::BufferOptions::with_earliest) was not set.
    pub fn earliest(&self) -> Result<&wgpu::Buffer, Error> {
        let earliest = self.reductions.earliest.as_ref();
        asked(earliest.map(|earliest| &earliest.impacts), "earliest")
    }

    /// Returns the GPU buffer with the image of the sphere that each sphere hits first, in the
    /// order of [`earliest`](Self::earliest): an `array<u32>` to be read with `carom_image()`.
    /// Spheres without an impact have `CAROM_NONE`. If several images of the sphere are hit at the
    /// same time, the smallest one counts. Usages: `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns [`Error::NotAskedFor`] unless both `earliest` and `periodic` were set in
    /// [`BufferOptions`](crate::gpu::BufferOptions::with_earliest).
    pub fn earliest_images(&self) -> Result<&wgpu::Buffer, Error> {
        let earliest = self.reductions.earliest.as_ref();
        let earliest = asked(earliest, "earliest")?;
        asked(earliest.images.as_ref(), "periodic")
    }

    /// Returns the GPU buffer with each pair once, sorted by sphere indices (a, b): an
    /// `array<CaromCollision>` of [`WGSL`](crate::gpu::WGSL). Grazing pairs may be among them, so the exact list may be
    /// shorter.
    ///
    /// The number of pairs in the buffer is the field `sorted` of the [`results`](Self::results).
    /// The elements after these pairs are not valid. Usages: `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns [`Error::NotAskedFor`] if none of the options `sorted`, `contacts` and `changes` of
    /// [`BufferOptions`](crate::gpu::BufferOptions::with_sorted) was set.
    pub fn sorted(&self) -> Result<&wgpu::Buffer, Error> {
        let sorted = self.reductions.sorted.as_ref();
        asked(sorted.map(|sorted| &sorted.list), "sorted")
    }

    /// Returns the GPU buffer with the image of sphere b of each sorted pair, in the order of
    /// [`sorted`](Self::sorted): an `array<u32>` to be read with `carom_image()`. Pairs of the same
    /// two spheres are sorted by their images. Usages: `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns the same errors as [`sorted`](Self::sorted), and [`Error::NotAskedFor`] if the
    /// option [`periodic`](crate::gpu::BufferOptions::with_periodic) was not set.
    pub fn sorted_images(&self) -> Result<&wgpu::Buffer, Error> {
        let sorted = asked(self.reductions.sorted.as_ref(), "sorted")?;
        asked(sorted.images.as_ref(), "periodic")
    }

    /// Returns the GPU buffer of arguments for a `dispatch_workgroups_indirect` over the sorted
    /// pairs, like [`dispatch`](Self::dispatch) for the unsorted ones. The fields of the [`results`](Self::results) are
    /// `sorted_columns` and `sorted`.
    ///
    /// # Errors
    /// Returns the same errors as [`sorted`](Self::sorted).
    pub fn sorted_dispatch(&self) -> Result<&wgpu::Buffer, Error> {
        let sorted = self.reductions.sorted.as_ref();
        asked(sorted.map(|sorted| &sorted.dispatch), "sorted")
    }

    /// Returns the GPU buffer of the offsets at which the contacts of each sphere begin in
    /// [`contact_indices`](Self::contact_indices): an `array<u32>` with one element more than the
    /// capacity for spheres.
    ///
    /// Element i is the offset of the first contact of sphere i, and the next element is the end of
    /// its contacts. The spheres of a second set are numbered after those of the first set. Usages:
    /// `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns [`Error::NotAskedFor`] if [`BufferOptions::with_contacts`](crate::gpu::BufferOptions::with_contacts)
    /// was not set.
    pub fn contact_offsets(&self) -> Result<&wgpu::Buffer, Error> {
        let contacts = self.reductions.contacts.as_ref();
        asked(contacts.map(|contacts| &contacts.offsets), "contacts")
    }

    /// Returns the GPU buffer of the contacts of all spheres: an `array<u32>` of indices into the
    /// [`sorted`](Self::sorted) list of pairs, in the order of the spheres. The contacts of one
    /// sphere are ordered by the index of the other sphere. Usages: `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns the same errors as [`contact_offsets`](Self::contact_offsets).
    pub fn contact_indices(&self) -> Result<&wgpu::Buffer, Error> {
        let contacts = self.reductions.contacts.as_ref();
        asked(contacts.map(|contacts| &contacts.indices), "contacts")
    }

    /// Returns the GPU buffer of the changes since the last step with a complete list of pairs: an
    /// `array<vec2<u32>>` of the indices (a, b) of each pair.
    ///
    /// The list of changes compares this step with an earlier one: the last step with a complete
    /// list of pairs. The list has three parts, each sorted. The pairs that touch only in this step
    /// come first, then the pairs that touch in both steps, then the pairs that touch only in the
    /// earlier step. The sizes of the parts are the fields `began`, `lasted` and `ended` of the
    /// [`results`](Self::results). Usages: `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns [`Error::NotAskedFor`] if [`BufferOptions::with_changes`](crate::gpu::BufferOptions::with_changes) was
    /// not set.
    pub fn changes(&self) -> Result<&wgpu::Buffer, Error> {
        let changes = self.reductions.changes.as_ref();
        asked(changes.map(|changes| &changes.list), "changes")
    }

    /// Returns the GPU buffer with the image of sphere b of each changed pair, in the order of
    /// [`changes`](Self::changes): an `array<u32>` to be read with `carom_image()`. Usages:
    /// `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns the same errors as [`changes`](Self::changes), and [`Error::NotAskedFor`] if the
    /// option [`periodic`](crate::gpu::BufferOptions::with_periodic) was not set.
    pub fn change_images(&self) -> Result<&wgpu::Buffer, Error> {
        let changes = asked(self.reductions.changes.as_ref(), "changes")?;
        asked(changes.images.as_ref(), "periodic")
    }
}

impl CollisionBuffers {
    /// Returns the GPU buffer of the spheres that touch walls: an `array<CaromWallCollision>` of
    /// [`WGSL`](crate::gpu::WGSL).
    ///
    /// The number of wall collisions in the buffer is the field `walls` of the
    /// [`results`](Self::results). The elements after these wall collisions are not valid. The wall
    /// collisions are in no particular order. Usages: `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns [`Error::NotAskedFor`] if [`BufferOptions::with_walls`](crate::gpu::BufferOptions::with_walls) and
    /// `triangles` are 0.
    pub fn wall_collisions(&self) -> Result<&wgpu::Buffer, Error> {
        Ok(&self.of_walls()?.collisions)
    }

    /// Returns the GPU buffer with the image of the sphere of each wall collision, in the order of
    /// [`wall_collisions`](Self::wall_collisions): an `array<u32>` to be read with `carom_image()`.
    /// Usages: `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns [`Error::NotAskedFor`] in these two cases:
    /// - [`BufferOptions::with_walls`](crate::gpu::BufferOptions::with_walls) and `triangles` are both
    ///   0.
    /// - [`BufferOptions::with_periodic`](crate::gpu::BufferOptions::with_periodic) was not set.
    pub fn wall_images(&self) -> Result<&wgpu::Buffer, Error> {
        let walls = self.of_walls()?;
        asked(self.buffers.periodic.as_ref(), "periodic")?;
        Ok(&walls.images)
    }

    /// Returns the GPU buffer of the walls of the last recorded step that has run: an
    /// `array<CaromWall>` of [`WGSL`](crate::gpu::WGSL), for the function `carom_wall_contact()`. Usages:
    /// `STORAGE` and `COPY_SRC`.
    ///
    /// In steps whose spheres have previous centres instead of velocities, this buffer of walls
    /// holds the displacement of each wall during the step instead of its velocity.
    ///
    /// # Errors
    /// Returns the same errors as [`wall_collisions`](Self::wall_collisions).
    pub fn wall_shapes(&self) -> Result<&wgpu::Buffer, Error> {
        Ok(&self.of_walls()?.shapes)
    }

    /// Returns the GPU buffer of the triangles of the last recorded step that has run: an
    /// `array<CaromTriangle>` of [`WGSL`](crate::gpu::WGSL), for the function `carom_triangle_contact()`.
    /// Usages: `STORAGE` and `COPY_SRC`.
    ///
    /// # Errors
    /// Returns [`Error::NotAskedFor`] if [`BufferOptions::with_triangles`](crate::gpu::BufferOptions::with_triangles)
    /// is 0.
    pub fn wall_triangles(&self) -> Result<&wgpu::Buffer, Error> {
        let walls = self.buffers.walls.as_ref();
        let walls = walls.filter(|_| self.buffers.capacity.triangles > 0);
        Ok(&asked(walls, "triangles")?.triangles)
    }

    /// Returns the GPU buffer of arguments for a `dispatch_workgroups_indirect` over the wall
    /// collisions, like [`dispatch`](Self::dispatch) for pairs. To get the index of its wall
    /// collision, an invocation passes the field `wall_columns` of the [`results`](Self::results)
    /// to `carom_index()`.
    ///
    /// # Errors
    /// Returns the same errors as [`wall_collisions`](Self::wall_collisions).
    pub fn wall_dispatch(&self) -> Result<&wgpu::Buffer, Error> {
        Ok(&self.of_walls()?.dispatch)
    }

    fn of_walls(&self) -> Result<&WallBuffers, Error> {
        asked(self.buffers.walls.as_ref(), "walls")
    }
}

fn asked<'a, T>(made: Option<&'a T>, option: &'static str) -> Result<&'a T, Error> {
    made.ok_or(Error::NotAskedFor { option })
}
