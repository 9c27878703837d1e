//! What the buffers of a world are made for.

use super::buffers::Capacity;
use super::reductions::Wanted;

/// The capacities of a world's buffers, and the results that are kept in them.
///
/// ```
/// use carom::gpu::BufferOptions;
///
/// let options = BufferOptions::new(100_000).with_pairs(500_000).with_earliest();
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BufferOptions {
    /// Spheres at most, of both sets if there are two.
    pub spheres: u32,
    /// Pairs at most, 16 bytes each; `None` for twice as many as spheres, and some.
    pub pairs: Option<u32>,
    /// Time segments at most, besides each sphere's first; `None` for one for each
    /// fourth sphere, and some.
    pub segments: Option<u32>,
    /// Recordings, and readbacks, that may be under way at a time; 8 unless set.
    pub recordings: u32,
    /// A step with more candidate pairs than this is not tested, and its status word
    /// says so. 2³⁴ unless set.
    pub max_candidates: u64,
    /// Nanoseconds a tick of the queue's timestamps, to ask for the times of the
    /// stages.
    pub timestamp_period: Option<f32>,
    /// Whether each sphere's earliest impact is kept.
    pub earliest: bool,
    /// Whether the list sorted by (a, b), each pair once, is kept.
    pub sorted: bool,
    /// Whether each sphere's own contacts are kept, and so the sorted list.
    pub contacts: bool,
    /// Whether the pairs that began, last and ended are kept, and so the sorted list.
    pub changes: bool,
}

impl BufferOptions {
    /// For so many spheres at most, and no results but the list of pairs.
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

    /// With room for so many pairs.
    #[must_use]
    pub fn with_pairs(mut self, pairs: u32) -> Self {
        self.pairs = Some(pairs);
        self
    }

    /// With room for so many time segments besides each sphere's first.
    #[must_use]
    pub fn with_segments(mut self, segments: u32) -> Self {
        self.segments = Some(segments);
        self
    }

    /// With so many recordings, and readbacks, under way at a time.
    #[must_use]
    pub fn with_recordings(mut self, recordings: u32) -> Self {
        self.recordings = recordings;
        self
    }

    /// With so many candidate pairs at most.
    #[must_use]
    pub fn with_max_candidates(mut self, max_candidates: u64) -> Self {
        self.max_candidates = max_candidates;
        self
    }

    /// With the times of the stages, where the device has the feature
    /// `TIMESTAMP_QUERY`. `period` is the nanoseconds a tick:
    /// `queue.get_timestamp_period()`.
    #[must_use]
    pub fn with_timestamp_period(mut self, period: f32) -> Self {
        self.timestamp_period = Some(period);
        self
    }

    /// With each sphere's earliest impact.
    #[must_use]
    pub fn with_earliest(mut self) -> Self {
        self.earliest = true;
        self
    }

    /// With the list sorted by (a, b), each pair once.
    #[must_use]
    pub fn with_sorted(mut self) -> Self {
        self.sorted = true;
        self
    }

    /// With each sphere's own contacts, and so the sorted list.
    #[must_use]
    pub fn with_contacts(mut self) -> Self {
        self.contacts = true;
        self
    }

    /// With the pairs that began, last and ended, and so the sorted list.
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
