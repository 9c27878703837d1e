//! Options for carom's GPU buffers: their capacities, and the results that each step computes.

use super::buffers::BufferCapacity;
use super::reductions::Wanted;

/// Options for the GPU buffers of one world of spheres: their capacities, and the results that each
/// step computes.
///
/// ```
/// use carom::gpu::BufferOptions;
///
/// let options = BufferOptions::new(100_000).with_pairs(500_000).with_earliest();
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BufferOptions {
    pub(crate) spheres: u32,
    /// `None` is twice the number of spheres plus 1024.
    pub(crate) pairs: Option<u32>,
    /// `None` is a quarter of the number of spheres plus 1024.
    pub(crate) segments: Option<u32>,
    pub(crate) recordings: u32,
    pub(crate) max_candidates: u64,
    pub(crate) timestamp_period: Option<f32>,
    pub(crate) kernel_times: bool,
    pub(crate) earliest: bool,
    pub(crate) sorted: bool,
    pub(crate) contacts: bool,
    pub(crate) changes: bool,
    pub(crate) periodic: bool,
    pub(crate) decided: bool,
    /// Orders and packs the decided list, for a `Detector` only.
    pub(crate) rows: bool,
    pub(crate) short_records: bool,
    /// Tries to upload spheres without what they share, for a `Detector` only.
    pub(crate) compact: bool,
    pub(crate) neighbors: bool,
    pub(crate) walls: u32,
    pub(crate) triangles: u32,
    /// `None` is a quarter of the number of spheres plus 1024.
    pub(crate) wall_collisions: Option<u32>,
}

impl BufferOptions {
    /// Returns the default options, with the unsorted list of pairs as the only result.
    ///
    /// `spheres` is the largest number of spheres in a step, in both sets together if the step has two sets; at
    /// least 1.
    pub fn new(spheres: u32) -> Self {
        Self {
            spheres,
            pairs: None,
            segments: None,
            recordings: 8,
            max_candidates: 1 << 34,
            timestamp_period: None,
            kernel_times: false,
            earliest: false,
            sorted: false,
            contacts: false,
            changes: false,
            periodic: false,
            decided: true,
            rows: false,
            short_records: false,
            compact: false,
            neighbors: false,
            walls: 0,
            triangles: 0,
            wall_collisions: None,
        }
    }

    /// Sets the capacity of the list of pairs, at 32 bytes per pair, or 40 with periodic domains. The default is twice the number of
    /// spheres plus 1024.
    #[must_use]
    pub fn with_pairs(mut self, pairs: u32) -> Self {
        self.pairs = Some(pairs);
        self
    }

    /// Sets the capacity for time segments (parts of fast spheres' paths), without the first segment of
    /// each sphere. The default is a quarter of the number of spheres plus 1024.
    ///
    /// A sphere that moves far has 2ⁿ time segments of equal duration, each of which is a separate entry of
    /// carom's grids.
    #[must_use]
    pub fn with_segments(mut self, segments: u32) -> Self {
        self.segments = Some(segments);
        self
    }

    /// Sets the largest number of recorded steps that are in flight at once, and also of readbacks that are
    /// in flight at once; at least 1. The default is 8.
    #[must_use]
    pub fn with_recordings(mut self, recordings: u32) -> Self {
        self.recordings = recordings;
        self
    }

    /// Sets the largest number of candidates (pairs of grid entries to test) in a step. If a step has more
    /// candidates, most of them are not tested, and its status has
    /// [`Status::TOO_CROWDED`](crate::gpu::Status::TOO_CROWDED). The default is 2³⁴.
    #[must_use]
    pub fn with_max_candidates(mut self, max_candidates: u64) -> Self {
        self.max_candidates = max_candidates;
        self
    }

    /// Sets the period of the queue's timestamps in nanoseconds per tick: `queue.get_timestamp_period()`.
    /// carom then measures the time of each stage on devices with the feature `TIMESTAMP_QUERY`. A number
    /// that is not positive and finite has no effect.
    #[must_use]
    pub fn with_timestamp_period(mut self, period: f32) -> Self {
        self.timestamp_period = Some(period);
        self
    }

    /// Measures the times of the kernels (compute shaders) instead of the stages. Each dispatch of a kernel
    /// is then a compute pass of its own, which makes a step a little slower. Needs
    /// [`with_timestamp_period`](Self::with_timestamp_period).
    #[must_use]
    pub fn with_kernel_times(mut self) -> Self {
        self.kernel_times = true;
        self
    }

    /// Makes each step compute the earliest impact of each sphere:
    /// [`CollisionBuffers::earliest`](crate::gpu::CollisionBuffers::earliest).
    #[must_use]
    pub fn with_earliest(mut self) -> Self {
        self.earliest = true;
        self
    }

    /// Makes each step compute a list with each pair once, sorted by sphere indices (a, b):
    /// [`CollisionBuffers::sorted`](crate::gpu::CollisionBuffers::sorted).
    #[must_use]
    pub fn with_sorted(mut self) -> Self {
        self.sorted = true;
        self
    }

    /// Makes each step compute the contacts of each sphere:
    /// [`CollisionBuffers::contact_offsets`](crate::gpu::CollisionBuffers::contact_offsets) and
    /// [`contact_indices`](crate::gpu::CollisionBuffers::contact_indices). The number of contacts of sphere i is
    /// `offsets[i + 1] - offsets[i]`. Implies [`with_sorted`](Self::with_sorted).
    #[must_use]
    pub fn with_contacts(mut self) -> Self {
        self.contacts = true;
        self
    }

    /// Makes each step compute the pairs that began, lasted and ended since the last complete step:
    /// [`CollisionBuffers::changes`](crate::gpu::CollisionBuffers::changes). Implies
    /// [`with_sorted`](Self::with_sorted).
    #[must_use]
    pub fn with_changes(mut self) -> Self {
        self.changes = true;
        self
    }

    /// Allows steps in periodic domains ([`Step::in_domain`](crate::Step::in_domain)). Each pair then has an
    /// image: [`CollisionBuffers::pair_images`](crate::gpu::CollisionBuffers::pair_images).
    ///
    /// The images (periodic copies) of spheres near the faces of the domain's cell need room:
    /// [`with_segments`](Self::with_segments) counts them, too.
    #[must_use]
    pub fn with_periodic(mut self) -> Self {
        self.periodic = true;
        self
    }

    /// Allows searches for neighbours:
    /// [`CollisionBuffers::record_neighbors`](crate::gpu::CollisionBuffers::record_neighbors). Implies
    /// [`with_sorted`](Self::with_sorted). Searches for full lists also need
    /// [`with_contacts`](Self::with_contacts). Buffers for neighbour lists cannot have walls.
    #[must_use]
    pub fn with_neighbors(mut self) -> Self {
        self.neighbors = true;
        self
    }

    /// Sets the largest number of walls in a step ([`Step::with_walls`](crate::Step::with_walls)):
    /// half-spaces, spheres and cylinders. With 0, the default, steps have no walls.
    #[must_use]
    pub fn with_walls(mut self, walls: u32) -> Self {
        self.walls = walls;
        self
    }

    /// Sets the largest number of triangles in a step, in all meshes together ([`Mesh`](crate::Mesh)). With 0,
    /// the default, steps have no meshes. Otherwise, each triangle takes as much memory as a sphere takes
    /// without meshes, and each sphere takes twice as much.
    #[must_use]
    pub fn with_triangles(mut self, triangles: u32) -> Self {
        self.triangles = triangles;
        self
    }

    /// Sets the capacity of the list of wall collisions (spheres that touch walls), at 16 bytes each. The
    /// default is a quarter of the number of spheres plus 1024. Needs [`with_walls`](Self::with_walls) or
    /// [`with_triangles`](Self::with_triangles).
    #[must_use]
    pub fn with_wall_collisions(mut self, collisions: u32) -> Self {
        self.wall_collisions = Some(collisions);
        self
    }

    pub(crate) fn wanted(&self) -> Wanted {
        Wanted {
            earliest: self.earliest,
            sorted: self.sorted || self.neighbors,
            contacts: self.contacts,
            changes: self.changes,
        }
    }

    pub(crate) fn capacity(&self) -> BufferCapacity {
        let spheres = u64::from(self.spheres);
        let triangles = u64::from(self.triangles);
        let or = |asked: Option<u32>, usual: u64| asked.map_or(usual, u64::from);
        BufferCapacity {
            spheres,
            segments: or(self.segments, spheres / 4 + 1024),
            pairs: or(self.pairs, 2 * spheres + 1024),
            walls: self.walls.into(),
            triangles,
            mesh_segments: (spheres + triangles) / 4 + 1024,
            mesh_pairs: spheres / 2 + 1024,
            wall_collisions: match self.walls.max(self.triangles) {
                0 => 0,
                _ => or(self.wall_collisions, spheres / 4 + 1024),
            },
        }
    }
}
