//! The sorted proxies, as the search for pairs reads them.

use super::balls::{Ball, Balls};
use super::sorted_sphere::SortedSphere;
use crate::lanes::LANES;
use crate::reuse::{ReusedVec, ScratchPool};

#[derive(Debug, Default)]
pub(crate) struct SortedProxies {
    /// For each slot, the index of its first proxy among the sorted proxies. One more entry marks
    /// the end of the last slot.
    pub(crate) starts: ReusedVec<u32>,
    pub(crate) spheres: ReusedVec<SortedSphere>,
    pub(crate) balls: ReusedVec<Balls>,
    /// The tag of each sorted proxy. The flag [`INSIDE`](crate::shared::tag::INSIDE) tells that
    /// each neighbouring cell has a slot of its own.
    pub(crate) tags: ReusedVec<u32>,
    pub(crate) slots: ReusedVec<u32>,
    /// Scratch memory for sorting a bucket. For each sorted proxy: the place from which its sphere
    /// is read, its word, and its tag.
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
