//! The pairs found, and how many they are.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::Collision;
use crate::cpu::buckets::Buckets;
use crate::exact::{Grazing, ReportedPair};
use crate::reuse::{ReusedVec, ScratchPool};

/// The pairs found, in memory that is kept from step to step.
#[derive(Debug, Default)]
pub(crate) struct FoundPairs {
    /// Pairs that touch, by a.
    pub(crate) pairs: Buckets<Collision>,
    /// Pairs that several time segments may have reported: still to be decided.
    pub(crate) shared: ReusedVec<ReportedPair>,
    /// Such pairs of each task.
    pub(super) reports: ScratchPool<ReportedPair>,
}

impl FoundPairs {
    /// Bytes of memory kept.
    pub(crate) fn bytes(&self) -> usize {
        self.pairs.bytes() + self.shared.bytes() + self.reports.bytes()
    }
}

/// How many pairs were tested and found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairCounts {
    /// Pairs that touch, and need not be decided any more.
    pub(crate) pairs: u64,
    /// Pairs of proxies that were tested.
    pub(crate) candidates: u64,
    /// Grazing pairs, except for those still to be decided.
    pub(crate) grazing: Grazing,
}

/// What all tasks have found so far. Goes on past the limit, so that an error can tell how
/// many pairs there are.
#[derive(Debug)]
pub(super) struct Progress {
    /// Most pairs there may be.
    limit: u64,
    /// Pairs that touch.
    pairs: AtomicU64,
    /// Reports of pairs that are still to be decided, some of them more than once.
    shared: AtomicU64,
}

impl Progress {
    /// Nothing yet.
    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit,
            pairs: AtomicU64::new(0),
            shared: AtomicU64::new(0),
        }
    }

    /// Counts some more pairs and reports, and tells whether there are too many
    /// ([`Progress::is_too_much`]).
    pub(super) fn add(&self, pairs: usize, shared: usize) -> bool {
        let pairs = self.pairs.fetch_add(pairs as u64, Relaxed) + pairs as u64;
        let shared = self.shared.fetch_add(shared as u64, Relaxed) + shared as u64;
        self.exceeded(pairs, shared)
    }

    /// Whether the pairs are certainly too many, or the reports more than are worth their
    /// memory: they are of pairs that do not touch, too, and some come more than once, so
    /// eight times as many are allowed, or 2¹⁹.
    pub(super) fn is_too_much(&self) -> bool {
        self.exceeded(self.pairs(), self.shared.load(Relaxed))
    }

    fn exceeded(&self, pairs: u64, shared: u64) -> bool {
        pairs > self.limit || shared / 8 > self.limit.max(1 << 16)
    }

    /// Pairs that touch.
    pub(super) fn pairs(&self) -> u64 {
        self.pairs.load(Relaxed)
    }

    /// Pairs that touch, and all reports.
    pub(super) fn all(&self) -> u64 {
        self.pairs() + self.shared.load(Relaxed)
    }
}
