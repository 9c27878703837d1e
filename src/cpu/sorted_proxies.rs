//! The proxies in the order of their slots, in the form in which `pairs` reads them.

use super::balls::{Ball, Balls};
use super::sorted_sphere::SortedSphere;
use crate::lanes::LANES;
use crate::reuse::{ReusedVec, ScratchPool};

/// The sorted proxies.
#[derive(Debug, Default)]
pub(crate) struct SortedProxies {
    /// Where each slot begins, and at the end where the last one ends.
    pub(crate) starts: ReusedVec<u32>,
    /// What the swept test reads of each.
    pub(crate) spheres: ReusedVec<SortedSphere>,
    /// What the test before it reads: [`LANES`] to a block.
    pub(crate) balls: ReusedVec<Balls>,
    /// Level and segment of each, and maybe [`INSIDE`](crate::shared::tag::INSIDE).
    pub(crate) tags: ReusedVec<u32>,
    /// The slot of each.
    pub(crate) slots: ReusedVec<u32>,
    /// For the proxies of a bucket, in order: where each is read from, its sphere and tag.
    pub(super) orders: ScratchPool<[u32; 3]>,
    /// The spheres of a bucket as they were brought to it.
    pub(super) unsorted: ScratchPool<SortedSphere>,
}

impl SortedProxies {
    /// The ball of the proxy at a place among the sorted ones.
    pub(crate) fn ball(&self, index: usize) -> Ball {
        self.balls[index / LANES].get(index % LANES)
    }

    /// Bytes of memory kept.
    pub(crate) fn bytes(&self) -> usize {
        self.starts.bytes()
            + self.spheres.bytes()
            + self.balls.bytes()
            + self.tags.bytes()
            + self.slots.bytes()
            + self.orders.bytes()
            + self.unsorted.bytes()
    }
}
