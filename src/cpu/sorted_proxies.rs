//! The proxies (spheres and time segments) in the order of their grid cells, for the stage `pairs`.

use super::balls::{Ball, Balls};
use super::sorted_sphere::SortedSphere;
use crate::lanes::LANES;
use crate::reuse::{ReusedVec, ScratchPool};

/// The sorted spheres and time segments. The vectors may be longer than needed, because they are
/// reused.
#[derive(Debug, Default)]
pub(crate) struct SortedProxies {
    /// For each cell in the table of cells, the index where its contents begin in sorted order. The
    /// last entry is where the last cell ends.
    pub(crate) starts: ReusedVec<u32>,
    pub(crate) spheres: ReusedVec<SortedSphere>,
    pub(crate) balls: ReusedVec<Balls>,
    /// Grid and time segment of each entry, packed into one word, with the flag
    /// [`INSIDE`](crate::shared::tag::INSIDE) where it applies.
    pub(crate) tags: ReusedVec<u32>,
    pub(crate) slots: ReusedVec<u32>,
    /// Scratch memory for sorting a bucket. For each proxy in sorted order: the index to read its
    /// sphere from, the word of the proxy, and the tag.
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
