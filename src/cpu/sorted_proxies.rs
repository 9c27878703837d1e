//! The proxies in the order of their slots, in the form in which `pairs` reads them.

use super::balls::{Ball, Balls};
use super::sorted_sphere::SortedSphere;
use crate::lanes::LANES;
use crate::reuse::{ReusedVec, ScratchPool};

/// The sorted proxies. The vectors may hold more items than there are proxies, left over from
/// earlier steps.
#[derive(Debug, Default)]
pub(crate) struct SortedProxies {
    /// Where each slot begins among the sorted proxies, followed by where the last slot ends.
    pub(crate) starts: ReusedVec<u32>,
    /// Spheres of the proxies, for the swept test.
    pub(crate) spheres: ReusedVec<SortedSphere>,
    /// Balls of the proxies, for the ball test: [`LANES`] to a block.
    pub(crate) balls: ReusedVec<Balls>,
    /// Tags of the proxies: level and segment, and [`INSIDE`](crate::shared::tag::INSIDE) where it
    /// applies.
    pub(crate) tags: ReusedVec<u32>,
    /// Slots of the proxies.
    pub(crate) slots: ReusedVec<u32>,
    /// Scratch memory. For each proxy of a bucket, in sorted order: the place to read its sphere
    /// from, the index of the sphere, and the tag.
    pub(super) orders: ScratchPool<[u32; 3]>,
    /// Scratch memory: the spheres of a bucket in the order in which they were brought to it.
    pub(super) unsorted: ScratchPool<SortedSphere>,
}

impl SortedProxies {
    /// Returns the ball of the sorted proxy with this index.
    pub(crate) fn ball(&self, index: usize) -> Ball {
        self.balls[index / LANES].get(index % LANES)
    }

    /// Returns the number of bytes of memory kept.
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
