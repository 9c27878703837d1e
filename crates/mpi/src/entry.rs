//! The entries of lists.

use bytemuck::{Pod, Zeroable};

/// Two spheres that touch during a step, or a sphere and a wall.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Pair {
    /// Global index of one sphere: the smaller one or, with two sets, the one in the first set.
    ///
    /// At a wall, it is the index of the sphere. Sphere i of a second set then has the number of spheres in the first set
    /// plus i.
    pub a: u64,
    /// Global index of the other sphere, or number of the wall.
    pub b: u64,
    /// Time of impact, as in [`carom::Collision::toi`]. In a step of float32, it is a float32.
    pub toi: f64,
    /// Penetration depth at the start of the step, as in [`carom::Collision::depth`]. In a step of float32, it is a
    /// float32.
    pub depth: f64,
    /// Periodic image of sphere b, or of the sphere at the wall. It is `[0, 0, 0]` in open space.
    pub image: [i32; 3],
    pub(crate) unused: u32,
}

/// An entry of a neighbour list.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Neighbor {
    /// Global index of particle i.
    pub i: u64,
    /// Global index of particle j.
    pub j: u64,
    /// The vector from particle i to the image of particle j, as in [`carom::NeighborList::vectors`].
    pub vector: [f64; 3],
    /// The length of the vector, as in [`carom::NeighborList::distances`].
    pub distance: f64,
    /// Periodic image of particle j.
    pub image: [i32; 3],
    pub(crate) unused: u32,
}

/// An entry of a list that is spread over all ranks: [`Pair`] or [`Neighbor`].
pub trait Entry: Pod + Send + Sync {
    /// Returns what the list is sorted by: two indices, and an image.
    fn key(&self) -> ([u64; 2], [i32; 3]);
}

impl Entry for Pair {
    fn key(&self) -> ([u64; 2], [i32; 3]) {
        ([self.a, self.b], self.image)
    }
}

impl Entry for Neighbor {
    fn key(&self) -> ([u64; 2], [i32; 3]) {
        ([self.i, self.j], self.image)
    }
}
