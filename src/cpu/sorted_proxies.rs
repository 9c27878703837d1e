//! The proxies in the order of their slots, in the form in which the `pairs` stage reads them.

use super::balls::{Ball, Balls};
use super::sorted_sphere::SortedSphere;
use crate::lanes::LANES;
use crate::reuse::{ReusedVec, ScratchPool};

/// The proxies, sorted by slot. The vectors may have more items than there are proxies, left over
/// from earlier steps.
#[derive(Debug, Default)]
pub(crate) struct SortedProxies {
    /// For each slot, the index of its first proxy among the sorted proxies. The last entry is the
    /// index where the last slot ends.
    pub(crate) starts: ReusedVec<u32>,
    /// Spheres of the proxies, for the swept test.
    pub(crate) spheres: ReusedVec<SortedSphere>,
    /// Balls (bounding spheres) of the proxies, for the ball test. Each block has [`LANES`] balls.
    pub(crate) balls: ReusedVec<Balls>,
    /// Tags of the proxies: level and time segment, with the flag
    /// [`INSIDE`](crate::shared::tag::INSIDE) where it applies.
    pub(crate) tags: ReusedVec<u32>,
    /// Slots of the proxies' cells.
    pub(crate) slots: ReusedVec<u32>,
    /// Scratch memory for sorting a bucket. For each proxy in sorted order: the index to read its
    /// sphere from, the word of the proxy, and the tag.
    pub(super) orders: ScratchPool<[u32; 3]>,
    /// Scratch memory for the spheres that were copied to a bucket, before they are sorted.
    pub(super) unsorted: ScratchPool<SortedSphere>,
}

impl SortedProxies {
    /// Returns the ball (bounding sphere) of the proxy that has this index among the sorted
    /// proxies.
    pub(crate) fn ball(&self, index: usize) -> Ball {
        self.balls[index / LANES].get(index % LANES)
    }

    /// Returns the size in bytes of the memory that is kept from step to step.
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
