//! The spheres and time segments in the order of their grid cells, as the search for pairs reads
//! them.

use super::balls::{Ball, Balls};
use super::sorted_sphere::SortedSphere;
use crate::lanes::LANES;
use crate::reuse::{ReusedVec, ScratchPool};

#[derive(Debug, Default)]
pub(crate) struct SortedProxies {
    /// For each entry of the table of cells, the index of its first sphere among the sorted
    /// spheres. One more entry marks the end of the last cell.
    pub(crate) starts: ReusedVec<u32>,
    pub(crate) spheres: ReusedVec<SortedSphere>,
    pub(crate) balls: ReusedVec<Balls>,
    /// The grid and the time segment of each sorted sphere, packed into one number. The flag
    /// [`INSIDE`](crate::shared::tag::INSIDE) tells that each neighbouring cell has a table entry
    /// of its own.
    pub(crate) tags: ReusedVec<u32>,
    pub(crate) slots: ReusedVec<u32>,
    /// Scratch memory for sorting a bucket. It has three numbers for each sorted item: the place
    /// from which the item's sphere is read, the 32-bit word that names the sphere or its image,
    /// and the item's grid and time segment (tag).
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
