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
#[non_exhaustive]
pub struct BufferOptions {
    /// Largest number of spheres in a step, in both sets together if the step has two sets; at
    /// least 1.
    pub spheres: u32,
    /// Capacity of the list of pairs, at 16 bytes per pair. `None` is twice the number of spheres
    /// plus 1024.
    pub pairs: Option<u32>,
    /// Capacity for time segments (parts of fast spheres' paths), without the first segment of
    /// each sphere.
    ///
    /// A sphere that moves far has 2ⁿ time segments of equal duration, each of which is a separate entry of
    /// carom's grids. `None` gives room for a quarter of the number of spheres plus 1024 segments.
    pub segments: Option<u32>,
    /// Largest number of recorded steps that are in flight at once, and also of readbacks that are
    /// in flight at once; at least 1. The default is 8.
    pub recordings: u32,
    /// Largest number of candidates (pairs of grid entries to test) in a step. If a step has more
    /// candidates, most of them are not tested, and its status has
    /// [`Status::TOO_CROWDED`](super::Status::TOO_CROWDED). The default is 2³⁴.
    pub max_candidates: u64,
    /// Period of the queue's timestamps in nanoseconds per tick: `queue.get_timestamp_period()`. If
    /// the period is set, carom measures the time of each stage on devices with the feature
    /// `TIMESTAMP_QUERY`. A number that is not positive and finite has the effect of `None`.
    pub timestamp_period: Option<f32>,
    /// Whether the times are those of the kernels (compute shaders) instead of the stages. Each
    /// dispatch of a kernel is then a compute pass of its own, which makes a step a little slower.
    /// Without effect if there are no timestamps.
    pub kernel_times: bool,
    /// Whether each step computes the earliest impact of each sphere:
    /// [`CollisionBuffers::earliest`](super::CollisionBuffers::earliest).
    pub earliest: bool,
    /// Whether each step computes a list with each pair once, sorted by sphere indices (a, b):
    /// [`CollisionBuffers::sorted`](super::CollisionBuffers::sorted).
    pub sorted: bool,
    /// Whether each step computes the contacts of each sphere:
    /// [`CollisionBuffers::contact_offsets`](super::CollisionBuffers::contact_offsets) and
    /// [`contact_indices`](super::CollisionBuffers::contact_indices). Implies the option `sorted`.
    pub contacts: bool,
    /// Whether each step computes the pairs that began, lasted and ended since the last complete
    /// step: [`CollisionBuffers::changes`](super::CollisionBuffers::changes). Implies the option
    /// `sorted`.
    pub changes: bool,
    /// Whether steps may have a periodic domain ([`Step::in_domain`](crate::Step::in_domain)). Each
    /// pair then has an image:
    /// [`CollisionBuffers::pair_images`](super::CollisionBuffers::pair_images).
    ///
    /// The images (periodic copies) of spheres near the faces of the domain's cell need room:
    /// [`segments`](Self::segments) counts them, too.
    pub periodic: bool,
    /// Whether searches for neighbours can be recorded:
    /// [`CollisionBuffers::record_neighbors`](super::CollisionBuffers::record_neighbors). Implies
    /// the option `sorted`. Searches for full lists also need the option `contacts`. Buffers for
    /// neighbour lists cannot have walls.
    pub neighbors: bool,
    /// Largest number of walls in a step ([`Step::with_walls`](crate::Step::with_walls)): half-spaces,
    /// spheres and cylinders. With 0, the default, steps have no walls.
    pub walls: u32,
    /// Largest number of triangles in a step, in all meshes together ([`Mesh`](crate::Mesh)). With 0, the
    /// default, steps have no meshes. Otherwise, each triangle takes as much memory as a sphere takes
    /// without meshes, and each sphere takes twice as much.
    pub triangles: u32,
    /// Capacity of the list of wall collisions (spheres that touch walls), at 16 bytes each. `None` is a
    /// quarter of the number of spheres plus 1024. Without effect if `walls` and `triangles` are 0.
    pub wall_collisions: Option<u32>,
}

impl BufferOptions {
    /// Returns the default options for at most `spheres` spheres, with the unsorted list of pairs
    /// as the only result.
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
            neighbors: false,
            walls: 0,
            triangles: 0,
            wall_collisions: None,
        }
    }

    /// Returns the options with room for this number of [`pairs`](Self::pairs).
    #[must_use]
    pub fn with_pairs(mut self, pairs: u32) -> Self {
        self.pairs = Some(pairs);
        self
    }

    /// Returns the options with this capacity for time segments: see [`segments`](Self::segments).
    #[must_use]
    pub fn with_segments(mut self, segments: u32) -> Self {
        self.segments = Some(segments);
        self
    }

    /// Returns the options with at most this number of [`recordings`](Self::recordings) in flight.
    #[must_use]
    pub fn with_recordings(mut self, recordings: u32) -> Self {
        self.recordings = recordings;
        self
    }

    /// Returns the options with this limit on the number of candidates in a step: see
    /// [`max_candidates`](Self::max_candidates).
    #[must_use]
    pub fn with_max_candidates(mut self, max_candidates: u64) -> Self {
        self.max_candidates = max_candidates;
        self
    }

    /// Returns the options with this [`timestamp_period`](Self::timestamp_period), in nanoseconds
    /// per tick.
    #[must_use]
    pub fn with_timestamp_period(mut self, period: f32) -> Self {
        self.timestamp_period = Some(period);
        self
    }

    /// Returns the options with a request for the time of each kernel instead of each stage: see
    /// [`kernel_times`](Self::kernel_times).
    #[must_use]
    pub fn with_kernel_times(mut self) -> Self {
        self.kernel_times = true;
        self
    }

    /// Returns the options with a request for the earliest impact of each sphere: see
    /// [`earliest`](Self::earliest).
    #[must_use]
    pub fn with_earliest(mut self) -> Self {
        self.earliest = true;
        self
    }

    /// Returns the options with a request for the sorted list of pairs: see [`sorted`](Self::sorted).
    #[must_use]
    pub fn with_sorted(mut self) -> Self {
        self.sorted = true;
        self
    }

    /// Returns the options with a request for the contacts of each sphere: see [`contacts`](Self::contacts).
    #[must_use]
    pub fn with_contacts(mut self) -> Self {
        self.contacts = true;
        self
    }

    /// Returns the options with a request for the pairs that began, lasted and ended since the last complete
    /// step: see [`changes`](Self::changes).
    #[must_use]
    pub fn with_changes(mut self) -> Self {
        self.changes = true;
        self
    }

    /// Returns the options with room for periodic domains: see [`periodic`](Self::periodic).
    #[must_use]
    pub fn with_periodic(mut self) -> Self {
        self.periodic = true;
        self
    }

    /// Returns the options with a request for neighbour lists: see [`neighbors`](Self::neighbors).
    #[must_use]
    pub fn with_neighbors(mut self) -> Self {
        self.neighbors = true;
        self
    }

    /// Returns the options for steps with at most this number of [`walls`](Self::walls).
    #[must_use]
    pub fn with_walls(mut self, walls: u32) -> Self {
        self.walls = walls;
        self
    }

    /// Returns the options for steps with at most this number of [`triangles`](Self::triangles).
    #[must_use]
    pub fn with_triangles(mut self, triangles: u32) -> Self {
        self.triangles = triangles;
        self
    }

    /// Returns the options with room for this number of [`wall_collisions`](Self::wall_collisions).
    #[must_use]
    pub fn with_wall_collisions(mut self, collisions: u32) -> Self {
        self.wall_collisions = Some(collisions);
        self
    }

    pub(super) fn wanted(&self) -> Wanted {
        Wanted {
            earliest: self.earliest,
            sorted: self.sorted || self.neighbors,
            contacts: self.contacts,
            changes: self.changes,
        }
    }

    pub(super) fn set(&mut self, capacity: BufferCapacity) {
        self.spheres = capacity.spheres as u32;
        self.segments = Some(capacity.segments as u32);
        self.pairs = Some(capacity.pairs.min(u64::from(u32::MAX)) as u32);
        if capacity.has_walls() {
            let collisions = capacity.wall_collisions.min(u64::from(u32::MAX));
            self.wall_collisions = Some(collisions as u32);
        }
    }

    pub(super) fn capacity(&self) -> BufferCapacity {
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
