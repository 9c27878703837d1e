//! The options of a world's buffers: their capacities, and the results that each step computes.

use super::buffers::Capacity;
use super::reductions::Wanted;

/// Options for the buffers of one world: their capacities, and the results that each step computes.
///
/// Fields can be set directly or with the `with_` methods. [`new`](Self::new) sets the defaults.
///
/// ```
/// use carom::gpu::BufferOptions;
///
/// let options = BufferOptions::new(100_000).with_pairs(500_000).with_earliest();
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BufferOptions {
    /// Largest number of spheres in a step, in both sets together if there are two. At least 1.
    pub spheres: u32,
    /// Capacity of the list of pairs, at 16 bytes per pair. `None` stands for twice the number of
    /// spheres plus 1024.
    pub pairs: Option<u32>,
    /// Capacity for time segments, not counting the first segment of each sphere.
    ///
    /// A sphere that moves far is split in time into segments: 2ⁿ parts of its path that take
    /// equal time. Each segment is a separate entry of the grids. A sphere that is not split
    /// counts as its own first segment. `None` stands for a quarter of the number of spheres
    /// plus 1024.
    pub segments: Option<u32>,
    /// Largest number of recordings that may be in flight at once. The same limit applies to
    /// readbacks. At least 1; the default is 8.
    pub recordings: u32,
    /// Largest number of candidates (pairs of grid entries that are tested) of a step. If a step
    /// has more candidates, none is tested, and the step's status has
    /// [`Status::TOO_CROWDED`](super::Status::TOO_CROWDED). The default is 2³⁴.
    pub max_candidates: u64,
    /// Nanoseconds per tick of the queue's timestamps, as returned by
    /// `queue.get_timestamp_period()`. If the period is set, the time of each stage is measured on
    /// devices with the feature `TIMESTAMP_QUERY`. `None`, zero, a negative period and a period
    /// that is not finite turn the measurement off.
    pub timestamp_period: Option<f32>,
    /// Whether each step computes each sphere's earliest impact:
    /// [`CollisionBuffers::earliest`](super::CollisionBuffers::earliest).
    pub earliest: bool,
    /// Whether each step computes the list of pairs sorted by (a, b), with each pair once:
    /// [`CollisionBuffers::sorted`](super::CollisionBuffers::sorted).
    pub sorted: bool,
    /// Whether each step computes a list of contacts for each sphere:
    /// [`CollisionBuffers::contact_offsets`](super::CollisionBuffers::contact_offsets) and
    /// [`contact_indices`](super::CollisionBuffers::contact_indices). The sorted list of pairs is
    /// then computed too.
    pub contacts: bool,
    /// Whether each step computes the pairs that began, last and ended since the last complete
    /// step: [`CollisionBuffers::changes`](super::CollisionBuffers::changes). The sorted list of
    /// pairs is then computed too.
    pub changes: bool,
}

impl BufferOptions {
    /// Returns the default options for at most `spheres` spheres. The list of pairs is the only
    /// result that each step computes.
    pub fn new(spheres: u32) -> Self {
        Self {
            spheres,
            pairs: None,
            segments: None,
            recordings: 8,
            max_candidates: 1 << 34,
            timestamp_period: None,
            earliest: false,
            sorted: false,
            contacts: false,
            changes: false,
        }
    }

    /// Returns the options with the capacity for `pairs` pairs: see [`pairs`](Self::pairs).
    #[must_use]
    pub fn with_pairs(mut self, pairs: u32) -> Self {
        self.pairs = Some(pairs);
        self
    }

    /// Returns the options with the capacity for `segments` time segments besides each sphere's
    /// first: see [`segments`](Self::segments).
    #[must_use]
    pub fn with_segments(mut self, segments: u32) -> Self {
        self.segments = Some(segments);
        self
    }

    /// Returns the options with at most `recordings` recordings, and as many readbacks, in
    /// flight at once: see [`recordings`](Self::recordings).
    #[must_use]
    pub fn with_recordings(mut self, recordings: u32) -> Self {
        self.recordings = recordings;
        self
    }

    /// Returns the options with at most `max_candidates` candidates per step: see
    /// [`max_candidates`](Self::max_candidates).
    #[must_use]
    pub fn with_max_candidates(mut self, max_candidates: u64) -> Self {
        self.max_candidates = max_candidates;
        self
    }

    /// Returns the options with the time of each stage measured, on devices with the feature
    /// `TIMESTAMP_QUERY`. `period` is the number of nanoseconds per tick:
    /// `queue.get_timestamp_period()`.
    #[must_use]
    pub fn with_timestamp_period(mut self, period: f32) -> Self {
        self.timestamp_period = Some(period);
        self
    }

    /// Returns the options with each sphere's earliest impact computed in each step: see
    /// [`earliest`](Self::earliest).
    #[must_use]
    pub fn with_earliest(mut self) -> Self {
        self.earliest = true;
        self
    }

    /// Returns the options with the list of pairs sorted by (a, b), with each pair once, computed
    /// in each step: see [`sorted`](Self::sorted).
    #[must_use]
    pub fn with_sorted(mut self) -> Self {
        self.sorted = true;
        self
    }

    /// Returns the options with a list of contacts for each sphere computed in each step, and
    /// therefore the sorted list of pairs: see [`contacts`](Self::contacts).
    #[must_use]
    pub fn with_contacts(mut self) -> Self {
        self.contacts = true;
        self
    }

    /// Returns the options with the pairs that began, last and ended computed in each step, and
    /// therefore the sorted list of pairs: see [`changes`](Self::changes).
    #[must_use]
    pub fn with_changes(mut self) -> Self {
        self.changes = true;
        self
    }

    pub(super) fn wanted(&self) -> Wanted {
        Wanted {
            earliest: self.earliest,
            sorted: self.sorted,
            contacts: self.contacts,
            changes: self.changes,
        }
    }

    pub(super) fn set(&mut self, capacity: Capacity) {
        self.spheres = capacity.spheres as u32;
        self.segments = Some(capacity.segments as u32);
        self.pairs = Some(capacity.pairs.min(u64::from(u32::MAX)) as u32);
    }

    pub(super) fn capacity(&self) -> Capacity {
        let spheres = u64::from(self.spheres);
        let or = |asked: Option<u32>, usual: u64| asked.map_or(usual, u64::from);
        Capacity {
            spheres,
            segments: or(self.segments, spheres / 4 + 1024),
            pairs: or(self.pairs, 2 * spheres + 1024),
        }
    }
}
