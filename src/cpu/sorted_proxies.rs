//! The sorted proxies, as the search for pairs reads them.

use super::balls::{Ball, Balls};
use super::sorted_sphere::SortedSphere;
use crate::lanes::LANES;
use crate::reuse::{ReusedVec, ScratchPool};

#[derive(Debug, Default)]
pub(crate) struct SortedProxies {
    /// The index of the first proxy of each slot, and the end of the last.
    pub(crate) starts: ReusedVec<u32>,
    pub(crate) spheres: ReusedVec<SortedSphere>,
    pub(crate) balls: ReusedVec<Balls>,
    pub(crate) tags: ReusedVec<u32>,
    pub(crate) slots: ReusedVec<u32>,
    /// For each proxy of a bucket: the place of its sphere, its word, and its tag.
    pub(super) orders: ScratchPool<[u32; 3]>,
    pub(super) unsorted: ScratchPool<SortedSphere>,
}

impl SortedProxies {
    pub(crate) fn ball(&self, index: usize) -> Ball {
        self.balls[index / LANES].get(index % LANES)
    }

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
