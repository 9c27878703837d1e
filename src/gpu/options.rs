//! What the buffers of a world are made for.

use super::buffers::Capacity;
use super::reductions::Wanted;

/// How large the buffers of a world are, and what is kept in them.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferOptions {
    /// Spheres at most, of both sets if there are two.
    pub spheres: u32,
    /// Pairs at most, 16 bytes each; 0 for twice as many as spheres, and some.
    pub pairs: u32,
    /// Time segments at most, besides each sphere's first; 0 for one for each fourth
    /// sphere, and some.
    pub segments: u32,
    /// Recordings, and readbacks, that may be under way at a time; 8 unless set.
    pub recordings: u32,
    /// A world with more candidate pairs than this is not tested: the status word
    /// tells. 2³⁴ unless set.
    pub max_candidates: u64,
    /// Asks for the times of the stages, where the device has the feature
    /// `TIMESTAMP_QUERY`: `Some(queue.get_timestamp_period())`.
    pub timestamp_period: Option<f32>,
    /// Asks for each sphere's earliest impact.
    pub earliest: bool,
    /// Asks for the list sorted by (a, b), each pair once.
    pub sorted: bool,
    /// Asks for each sphere's own contacts; and so for the sorted list.
    pub contacts: bool,
    /// Asks for the pairs that began, last and ended; and so for the sorted list.
    pub changes: bool,
}

impl BufferOptions {
    /// For so many spheres at most, and nothing but the list of pairs.
    pub fn new(spheres: u32) -> Self {
        Self {
            spheres,
            pairs: 0,
            segments: 0,
            recordings: 8,
            max_candidates: 1 << 34,
            timestamp_period: None,
            earliest: false,
            sorted: false,
            contacts: false,
            changes: false,
        }
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
        self.segments = capacity.segments as u32;
        self.pairs = capacity.pairs.min(u64::from(u32::MAX)) as u32;
    }

    pub(super) fn capacity(&self) -> Capacity {
        let spheres = u64::from(self.spheres);
        let or = |asked: u32, usual: u64| if asked > 0 { asked.into() } else { usual };
        Capacity {
            spheres,
            segments: or(self.segments, spheres / 4 + 1024),
            pairs: or(self.pairs, 2 * spheres + 1024),
        }
    }
}
