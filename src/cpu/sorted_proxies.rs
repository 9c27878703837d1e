//! The proxies (spheres and time segments) in the order of their grid cells, for the stage `pairs`.

use super::balls::{Ball, Balls};
use super::sorted_sphere::SortedSphere;
use crate::lanes::LANES;
use crate::reuse::{ReusedVec, ScratchPool};

#[derive(Debug, Default)]
pub(crate) struct SortedProxies {
    /// For each table entry of a cell, the sorted index of its first sphere. One more entry marks
    /// the end of the last cell.
    pub(crate) starts: ReusedVec<u32>,
    pub(crate) spheres: ReusedVec<SortedSphere>,
    pub(crate) balls: ReusedVec<Balls>,
    /// Level (grid) and time segment of each sorted proxy in one word, with the flag
    /// [`INSIDE`](crate::shared::tag::INSIDE) where it applies.
    pub(crate) tags: ReusedVec<u32>,
    pub(crate) slots: ReusedVec<u32>,
    /// Scratch memory for sorting a bucket: for each sorted proxy, the index to read its sphere
    /// from, its word and its tag.
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
