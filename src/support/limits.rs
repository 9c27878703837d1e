//! Limits on the numbers of spheres, time segments, periodic images, candidate pairs and touching
//! pairs.

use crate::Error;

/// Of the 32 bits of an index, one marks pairs that are too close to decide in float32, and one
/// keeps sums of two indices in range.
pub(crate) const MAX_SPHERES: usize = 1 << 30;

/// The results of such a task fit in the cache.
pub(crate) const CHUNK: usize = 1 << 14;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) candidates: u64,
    pub(crate) pairs: u64,
}

impl Limits {
    /// Some of its pairs may not touch.
    pub(crate) fn for_enclosing(self) -> Self {
        Self {
            pairs: self.pairs.saturating_mul(2).saturating_add(1 << 20),
            ..self
        }
    }

    pub(crate) fn allow_candidates(self, needed: u64) -> Result<(), Error> {
        let limit = self.candidates;
        if needed > limit {
            return Err(Error::TooManyCandidates { needed, limit });
        }
        Ok(())
    }

    pub(crate) fn allow_pairs(self, needed: u64) -> Result<(), Error> {
        let limit = self.pairs;
        if needed > limit {
            return Err(Error::TooManyPairs { needed, limit });
        }
        Ok(())
    }
}

/// A step that would have more uses longer segments.
pub(crate) fn most_proxies(spheres: usize) -> u64 {
    let spheres = spheres as u64;
    // More than about N²/32 segments cost more time than they save: searching for one costs
    // as much as 20 tests or more, and without segments there are at most N²/2.
    let worth = spheres + spheres.saturating_mul(spheres) / 32;
    // So that segments are tested even with few spheres.
    let worth = if cfg!(carom_fuzzing) { u64::MAX } else { worth };
    room_for_proxies(spheres).min(worth)
}

/// As [`most_proxies`], for spheres that would have many images without segments.
pub(crate) fn most_proxies_in_cell(spheres: usize) -> u64 {
    room_for_proxies(spheres as u64)
}

fn room_for_proxies(spheres: u64) -> u64 {
    (spheres * 16 + (1 << 18)).min(1 << 31)
}

pub(crate) fn most_images(spheres: usize) -> u64 {
    (spheres as u64 * 64 + (1 << 20)).min(1 << 30)
}
