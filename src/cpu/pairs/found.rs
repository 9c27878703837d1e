//! The pairs that were found, and their counts.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::Collision;
use crate::cpu::buckets::Buckets;
use crate::exact::{Grazing, ReportedPair};
use crate::reuse::{ReusedVec, ScratchPool};

/// The pairs that were found, in memory that is kept from step to step.
#[derive(Debug, Default)]
pub(crate) struct FoundPairs {
    /// Pairs that touch, in buckets by a.
    pub(crate) pairs: Buckets<Collision>,
    /// Reports of pairs that several time segments may report, for the `decide` stage.
    pub(crate) shared: ReusedVec<ReportedPair>,
    /// Scratch memory for the reports of each task.
    pub(super) reports: ScratchPool<ReportedPair>,
}

impl FoundPairs {
    /// Returns the number of bytes of memory kept.
    pub(crate) fn bytes(&self) -> usize {
        self.pairs.bytes() + self.shared.bytes() + self.reports.bytes()
    }
}

/// Numbers of pairs that were tested and found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairCounts {
    /// Number of pairs that touch, without the pairs that `decide` has yet to decide.
    pub(crate) pairs: u64,
    /// Number of pairs of proxies that were tested.
    pub(crate) candidates: u64,
    /// Number of grazing pairs, without the pairs that `decide` has yet to decide.
    pub(crate) grazing: Grazing,
}

/// Counts of the pairs and reports that all tasks have found so far. The counts go on past the
/// limit, so that an error can state the number of pairs.
#[derive(Debug)]
pub(super) struct Progress {
    /// Maximum number of pairs.
    limit: u64,
    /// Number of pairs that touch.
    pairs: AtomicU64,
    /// Number of reports of pairs that `decide` has yet to decide. A pair may have several reports.
    shared: AtomicU64,
}

impl Progress {
    /// Returns counts of zero.
    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit,
            pairs: AtomicU64::new(0),
            shared: AtomicU64::new(0),
        }
    }

    /// Adds to the counts. Returns whether they are too large now ([`Progress::is_too_much`]).
    pub(super) fn add(&self, pairs: usize, shared: usize) -> bool {
        let pairs = self.pairs.fetch_add(pairs as u64, Relaxed) + pairs as u64;
        let shared = self.shared.fetch_add(shared as u64, Relaxed) + shared as u64;
        self.exceeded(pairs, shared)
    }

    /// Whether the pairs exceed the limit, or the reports need more memory than they are worth.
    /// Some reports are of pairs that do not touch, and some are repeats. So eight times the limit
    /// is allowed, and at least 2¹⁹ reports.
    pub(super) fn is_too_much(&self) -> bool {
        self.exceeded(self.pairs(), self.shared.load(Relaxed))
    }

    fn exceeded(&self, pairs: u64, shared: u64) -> bool {
        pairs > self.limit || shared / 8 > self.limit.max(1 << 16)
    }

    /// Returns the number of pairs that touch.
    pub(super) fn pairs(&self) -> u64 {
        self.pairs.load(Relaxed)
    }

    /// Returns the number of pairs that touch and of all reports together.
    pub(super) fn all(&self) -> u64 {
        self.pairs() + self.shared.load(Relaxed)
    }
}
