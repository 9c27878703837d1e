//! The results of the `pairs` stage: the pairs that were found, and their counts.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::cpu::buckets::Buckets;
use crate::exact::{Grazing, Listed};
use crate::reuse::{ReusedVec, ScratchPool};

/// The pairs that the `pairs` stage has found. The memory is kept from step to step.
pub(crate) struct FoundPairs<L: Listed> {
    /// Pairs that touch, sorted into buckets by index a.
    pub(crate) pairs: Buckets<L>,
    /// Reports for the `decide` stage, of pairs that several time segments may report.
    pub(crate) shared: ReusedVec<L::Report>,
    /// Scratch memory for the reports of each task.
    pub(super) reports: ScratchPool<L::Report>,
}

impl<L: Listed> Default for FoundPairs<L> {
    fn default() -> Self {
        Self {
            pairs: Buckets::default(),
            shared: ReusedVec::default(),
            reports: ScratchPool::default(),
        }
    }
}

impl<L: Listed> FoundPairs<L> {
    /// Returns the size in bytes of the memory that is kept from step to step.
    pub(crate) fn bytes(&self) -> usize {
        self.pairs.bytes() + self.shared.bytes() + self.reports.bytes()
    }
}

/// Numbers of pairs that were tested and found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairCounts {
    /// Number of pairs that the `pairs` stage has found to touch. Pairs that it has reported to the
    /// `decide` stage are not included.
    pub(crate) pairs: u64,
    /// Number of candidates: the pairs of proxies that were tested.
    pub(crate) candidates: u64,
    /// Number of grazing pairs, which the swept test could not decide. Pairs that were reported to
    /// the `decide` stage are not included.
    pub(crate) grazing: Grazing,
}

/// Counts of the pairs and reports that all tasks have found so far. The tasks go on counting
/// beyond the limit, so that an error can state the number of pairs.
#[derive(Debug)]
pub(super) struct Progress {
    /// Maximum number of pairs that the caller allows.
    limit: u64,
    /// Number of pairs found to touch so far.
    pairs: AtomicU64,
    /// Number of reports for the `decide` stage so far. There may be several reports of one pair.
    shared: AtomicU64,
}

impl Progress {
    /// Makes counts that are all 0. `limit` is the maximum number of pairs.
    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit,
            pairs: AtomicU64::new(0),
            shared: AtomicU64::new(0),
        }
    }

    /// Adds `pairs` pairs that touch and `shared` reports to the counts. Returns whether the sums
    /// are too large ([`Progress::is_too_much`]).
    pub(super) fn add(&self, pairs: usize, shared: usize) -> bool {
        let pairs = self.pairs.fetch_add(pairs as u64, Relaxed) + pairs as u64;
        let shared = self.shared.fetch_add(shared as u64, Relaxed) + shared as u64;
        self.exceeded(pairs, shared)
    }

    /// Whether the number of pairs exceeds the limit, or the reports need too much memory. More
    /// reports than pairs are allowed, because some are of pairs that do not touch, and some are
    /// repeats: eight times the limit of the pairs, and at least 2¹⁹.
    pub(super) fn is_too_much(&self) -> bool {
        self.exceeded(self.pairs(), self.shared.load(Relaxed))
    }

    fn exceeded(&self, pairs: u64, shared: u64) -> bool {
        pairs > self.limit || shared / 8 > self.limit.max(1 << 16)
    }

    /// Returns the number of pairs found to touch so far.
    pub(super) fn pairs(&self) -> u64 {
        self.pairs.load(Relaxed)
    }

    /// Returns the sum of the number of pairs that touch and the number of reports.
    pub(super) fn all(&self) -> u64 {
        self.pairs() + self.shared.load(Relaxed)
    }
}
