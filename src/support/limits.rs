//! Limits on the numbers of spheres, time segments, periodic images, candidate pairs and touching
//! pairs.

use crate::Error;

/// Largest number of spheres in a time step: 2³⁰. A sphere index has 32 bits. One bit marks pairs
/// that are too close to decide in float32, and one keeps sums of two indices in range.
pub(crate) const MAX_SPHERES: usize = 1 << 30;

/// Number of spheres, or of time segments, in a parallel task. The results of such a task fit in
/// the cache.
pub(crate) const CHUNK: usize = 1 << 14;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) candidates: u64,
    pub(crate) pairs: u64,
}

impl Limits {
    /// Returns the limits of a step whose spheres enclose those of a step in float64. Some of its pairs may not touch.
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

/// Returns the largest number of uncut spheres and time segments that is worth its memory and time.
/// A step that would have more uses longer segments.
pub(crate) fn most_proxies(spheres: usize) -> u64 {
    let spheres = spheres as u64;
    // For N spheres, more than about N²/32 time segments cost more time than they save. Searching
    // the grid for one segment costs as much as 20 tests or more. Without segments, there are at
    // most N²/2 tests.
    let worth = spheres + spheres.saturating_mul(spheres) / 32;
    // Fuzzing builds also allow time segments that cost more time than they save, so that segments
    // are tested even with few spheres.
    let worth = if cfg!(carom_fuzzing) { u64::MAX } else { worth };
    (spheres * 16 + (1 << 18)).min(worth).min(1 << 31)
}

/// Returns the largest number of images (periodic copies) of spheres that a step in a periodic
/// domain may have.
pub(crate) fn most_images(spheres: usize) -> u64 {
    (spheres as u64 * 64 + (1 << 20)).min(1 << 30)
}
