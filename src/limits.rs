//! How many spheres, proxies, candidates and pairs there may be.

use crate::Error;

/// Most spheres of a step: one bit of an index marks grazing pairs, and another keeps sums in
/// range.
pub(crate) const MAX_SPHERES: usize = 1 << 30;

/// Spheres or proxies that are worked on in one go: what is made of them stays in the cache.
pub(crate) const CHUNK: usize = 1 << 14;

/// The user's limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most pairs to test.
    pub(crate) candidates: u64,
    /// Most pairs that touch.
    pub(crate) pairs: u64,
}

impl Limits {
    /// Refuses more candidates than the limit.
    pub(crate) fn allow_candidates(self, needed: u64) -> Result<(), Error> {
        let limit = self.candidates;
        if needed > limit {
            return Err(Error::TooManyCandidates { needed, limit });
        }
        Ok(())
    }

    /// Refuses more pairs that touch than the limit.
    pub(crate) fn allow_pairs(self, needed: u64) -> Result<(), Error> {
        let limit = self.pairs;
        if needed > limit {
            return Err(Error::TooManyPairs { needed, limit });
        }
        Ok(())
    }
}

/// More proxies than this are worth neither the memory nor the time: the
/// segments are made longer instead.
pub(crate) fn most_proxies(spheres: usize) -> u64 {
    let spheres = spheres as u64;
    // To search for others costs a proxy as much as 20 tests or more, and the spheres
    // themselves have no more pairs than N²/2.
    let worth = spheres + spheres.saturating_mul(spheres) / 32;
    // But a fuzzer's, which are few, are to be cut all the same.
    let worth = if cfg!(carom_fuzzing) { u64::MAX } else { worth };
    (spheres * 16 + (1 << 18)).min(worth).min(1 << 31)
}
