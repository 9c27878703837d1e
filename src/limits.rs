//! Limits on the numbers of spheres, proxies, candidates and pairs.

use crate::Error;

/// Largest number of spheres of a step. Of the 32 bits of an index, one marks grazing pairs, and
/// another keeps sums in range.
pub(crate) const MAX_SPHERES: usize = 1 << 30;

/// Number of spheres or proxies that a task processes at a time, so that its results stay in the
/// cache.
pub(crate) const CHUNK: usize = 1 << 14;

/// The limits that the user sets in [`Options`](crate::Options).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Largest number of candidates.
    pub(crate) candidates: u64,
    /// Largest number of pairs that touch.
    pub(crate) pairs: u64,
}

impl Limits {
    /// Returns an error if there are more candidates than the limit.
    pub(crate) fn allow_candidates(self, needed: u64) -> Result<(), Error> {
        let limit = self.candidates;
        if needed > limit {
            return Err(Error::TooManyCandidates { needed, limit });
        }
        Ok(())
    }

    /// Returns an error if more pairs touch than the limit allows.
    pub(crate) fn allow_pairs(self, needed: u64) -> Result<(), Error> {
        let limit = self.pairs;
        if needed > limit {
            return Err(Error::TooManyPairs { needed, limit });
        }
        Ok(())
    }
}

/// Returns the largest number of proxies that is worth its memory and time. If there would be
/// more, the segments are made longer.
pub(crate) fn most_proxies(spheres: usize) -> u64 {
    let spheres = spheres as u64;
    // The search of one proxy costs as much as 20 tests or more, while all pairs of N uncut
    // spheres are at most N²/2 tests. So more than about N²/32 further segments cannot pay.
    let worth = spheres + spheres.saturating_mul(spheres) / 32;
    // A fuzzer's worlds have few spheres, which are cut nevertheless so that segments are tested.
    let worth = if cfg!(carom_fuzzing) { u64::MAX } else { worth };
    (spheres * 16 + (1 << 18)).min(worth).min(1 << 31)
}
