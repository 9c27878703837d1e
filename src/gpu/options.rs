//! Options for carom's GPU buffers: their capacities, and the results that each step computes.

use super::buffers::Capacity;
use super::reductions::Wanted;

/// Options for carom's GPU buffers for one world of spheres: the capacities, and the results that
/// each step computes.
///
/// The fields of the options can be set directly or with the `with_` methods. [`new`](Self::new)
/// sets the defaults.
///
/// ```
/// use carom::gpu::BufferOptions;
///
/// let options = BufferOptions::new(100_000).with_pairs(500_000).with_earliest();
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BufferOptions {
    /// Largest number of spheres in a step, at least 1. With two sets, the spheres of both sets
    /// together.
    pub spheres: u32,
    /// Capacity of the list of pairs, at 16 bytes per pair. `None` is twice the number of spheres
    /// plus 1024.
    pub pairs: Option<u32>,
    /// Capacity for time segments (parts of fast spheres' paths), not counting the first segment of
    /// each sphere.
    ///
    /// The path of a sphere that moves far is split into 2ⁿ time segments, which take equal time.
    /// Each segment is a separate entry of carom's grids. A sphere with an unsplit path counts as
    /// its own first segment. `None` is a quarter of the number of spheres plus 1024.
    pub segments: Option<u32>,
    /// Largest number of recorded steps that may be in flight at once, at least 1. The same limit
    /// applies to readbacks. The default is 8.
    pub recordings: u32,
    /// Largest number of candidates (pairs of grid entries to test) in a step. If a step has more
    /// candidates, none of them is tested, and the step's status has
    /// [`Status::TOO_CROWDED`](super::Status::TOO_CROWDED). The default is 2³⁴.
    pub max_candidates: u64,
    /// Period of the queue's timestamps in nanoseconds per tick, as returned by
    /// `queue.get_timestamp_period()`. If the period is set, carom measures the time of each stage
    /// on devices with the feature `TIMESTAMP_QUERY`. `None`, zero, a negative period and a period
    /// that is not finite turn the measurement off.
    pub timestamp_period: Option<f32>,
    /// Whether each step computes the earliest impact of each sphere:
    /// [`CollisionBuffers::earliest`](super::CollisionBuffers::earliest).
    pub earliest: bool,
    /// Whether each step computes a list of pairs that is sorted by the indices (a, b) of the two
    /// spheres and contains each pair once:
    /// [`CollisionBuffers::sorted`](super::CollisionBuffers::sorted).
    pub sorted: bool,
    /// Whether each step computes the contacts of each sphere:
    /// [`CollisionBuffers::contact_offsets`](super::CollisionBuffers::contact_offsets) and
    /// [`contact_indices`](super::CollisionBuffers::contact_indices). The sorted list of pairs is
    /// then computed too.
    pub contacts: bool,
    /// Whether each step computes the changes since the last complete step, which are the pairs
    /// that began, lasted and ended:
    /// [`CollisionBuffers::changes`](super::CollisionBuffers::changes). The sorted list of pairs is
    /// then computed too.
    pub changes: bool,
}

impl BufferOptions {
    /// Returns the default options for at most `spheres` spheres. By default, a step computes only
    /// the unsorted list of pairs.
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

    /// Returns the options with room for `pairs` pairs of spheres: see [`pairs`](Self::pairs).
    #[must_use]
    pub fn with_pairs(mut self, pairs: u32) -> Self {
        self.pairs = Some(pairs);
        self
    }

    /// Returns the options with a capacity of `segments` time segments (parts of fast spheres'
    /// paths) besides each sphere's first: see [`segments`](Self::segments).
    #[must_use]
    pub fn with_segments(mut self, segments: u32) -> Self {
        self.segments = Some(segments);
        self
    }

    /// Returns the options with at most `recordings` recorded steps, and as many readbacks, in
    /// flight at once: see [`recordings`](Self::recordings).
    #[must_use]
    pub fn with_recordings(mut self, recordings: u32) -> Self {
        self.recordings = recordings;
        self
    }

    /// Returns the options with at most `max_candidates` candidates (pairs of grid entries to test)
    /// per step: see [`max_candidates`](Self::max_candidates).
    #[must_use]
    pub fn with_max_candidates(mut self, max_candidates: u64) -> Self {
        self.max_candidates = max_candidates;
        self
    }

    /// Returns options with which carom measures the time of each stage, on devices with the
    /// feature `TIMESTAMP_QUERY`. `period` is the number of nanoseconds per timestamp tick:
    /// `queue.get_timestamp_period()`.
    #[must_use]
    pub fn with_timestamp_period(mut self, period: f32) -> Self {
        self.timestamp_period = Some(period);
        self
    }

    /// Returns options with which each step computes the earliest impact of each sphere: see
    /// [`earliest`](Self::earliest).
    #[must_use]
    pub fn with_earliest(mut self) -> Self {
        self.earliest = true;
        self
    }

    /// Returns options with which each step computes a list of pairs that is sorted by the indices
    /// (a, b) of the two spheres and contains each pair once: see [`sorted`](Self::sorted).
    #[must_use]
    pub fn with_sorted(mut self) -> Self {
        self.sorted = true;
        self
    }

    /// Returns options with which each step computes the contacts of each sphere, and therefore the
    /// sorted list of pairs: see [`contacts`](Self::contacts).
    #[must_use]
    pub fn with_contacts(mut self) -> Self {
        self.contacts = true;
        self
    }

    /// Returns options with which each step computes the pairs that began, lasted and ended since
    /// the last complete step, and therefore the sorted list of pairs: see
    /// [`changes`](Self::changes).
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
