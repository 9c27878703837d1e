//! Results of the search for pairs: the pairs that were found, and their counts.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::Collision;
use crate::cpu::buckets::Buckets;
use crate::exact::{Grazing, ImageCollision, Listed};
use crate::reuse::{ReusedVec, ScratchPool};

pub(crate) struct FoundPairs<L: Listed> {
    /// Touching pairs without an image, in buckets by the first sphere.
    pub(crate) pairs: Buckets<Collision>,
    pub(crate) images: ReusedVec<ImageCollision>,
    /// A pair may be listed several times, and `decide` counts it once.
    pub(crate) shared: ReusedVec<L::Report>,
    pub(super) reports: ScratchPool<L::Report>,
    pub(super) images_of_tasks: ScratchPool<ImageCollision>,
}

impl<L: Listed> Default for FoundPairs<L> {
    fn default() -> Self {
        Self {
            pairs: Buckets::default(),
            images: ReusedVec::default(),
            shared: ReusedVec::default(),
            reports: ScratchPool::default(),
            images_of_tasks: ScratchPool::default(),
        }
    }
}

impl<L: Listed> FoundPairs<L> {
    pub(crate) fn bytes(&self) -> usize {
        self.pairs.bytes()
            + self.images.bytes()
            + self.shared.bytes()
            + self.reports.bytes()
            + self.images_of_tasks.bytes()
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairCounts {
    pub(crate) pairs: u64,
    pub(crate) candidates: u64,
    /// Without the shared ones.
    pub(crate) grazing: Grazing,
}

/// Counts go on beyond the limit, for the error message.
#[derive(Debug)]
pub(super) struct Progress {
    limit: u64,
    pairs: AtomicU64,
    shared: AtomicU64,
}

impl Progress {
    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit,
            pairs: AtomicU64::new(0),
            shared: AtomicU64::new(0),
        }
    }

    /// Returns whether one of the numbers is now too large.
    pub(super) fn add(&self, pairs: usize, shared: usize) -> bool {
        let pairs = self.pairs.fetch_add(pairs as u64, Relaxed) + pairs as u64;
        let shared = self.shared.fetch_add(shared as u64, Relaxed) + shared as u64;
        self.exceeded(pairs, shared)
    }

    /// Reports of shared pairs may be repeated, or not touch. So their limit is eight times
    /// that of pairs, and at least 2¹⁹.
    pub(super) fn is_too_much(&self) -> bool {
        self.exceeded(self.pairs(), self.shared.load(Relaxed))
    }

    fn exceeded(&self, pairs: u64, shared: u64) -> bool {
        pairs > self.limit || shared / 8 > self.limit.max(1 << 16)
    }

    pub(super) fn pairs(&self) -> u64 {
        self.pairs.load(Relaxed)
    }

    pub(super) fn all(&self) -> u64 {
        self.pairs() + self.shared.load(Relaxed)
    }
}
