//! Limits on the numbers of spheres, proxies, candidates and pairs.

use crate::Error;

/// Largest number of spheres of a step. Of the 32 bits of a sphere's index, one marks grazing
/// pairs, and another is left free so that sums of indices stay in range.
pub(crate) const MAX_SPHERES: usize = 1 << 30;

/// Number of spheres or proxies that a parallel task processes at a time. It is small enough for
/// the results of the task to stay in the cache.
pub(crate) const CHUNK: usize = 1 << 14;

/// The limits that the user sets in [`Options`](crate::Options).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Largest number of candidates of a step.
    pub(crate) candidates: u64,
    /// Largest number of touching pairs of a step.
    pub(crate) pairs: u64,
}

impl Limits {
    /// Returns an error if `needed`, the number of candidates of a step, exceeds the limit.
    pub(crate) fn allow_candidates(self, needed: u64) -> Result<(), Error> {
        let limit = self.candidates;
        if needed > limit {
            return Err(Error::TooManyCandidates { needed, limit });
        }
        Ok(())
    }

    /// Returns an error if `needed`, the number of pairs found in a step, exceeds the limit.
    pub(crate) fn allow_pairs(self, needed: u64) -> Result<(), Error> {
        let limit = self.pairs;
        if needed > limit {
            return Err(Error::TooManyPairs { needed, limit });
        }
        Ok(())
    }
}

/// Returns the largest number of proxies that is worth its memory and time in a world of `spheres`
/// spheres. If a step would have more proxies, its time segments are made longer.
pub(crate) fn most_proxies(spheres: usize) -> u64 {
    let spheres = spheres as u64;
    // The search of one proxy costs as much as 20 tests or more, while testing all pairs of N uncut
    // spheres takes at most N²/2 tests. So adding more than about N²/32 segments cannot pay.
    let worth = spheres + spheres.saturating_mul(spheres) / 32;
    // Fuzzing builds do not have this limit: a fuzzer's worlds have few spheres, which are cut
    // nevertheless so that time segments are tested.
    let worth = if cfg!(carom_fuzzing) { u64::MAX } else { worth };
    (spheres * 16 + (1 << 18)).min(worth).min(1 << 31)
}
