//! The layout of the sorted spheres on the GPU. They are sorted by cell, for the search for
//! touching pairs.

use bytemuck::{Pod, Zeroable};

/// An entry of the list of spheres and time segments that is sorted by grid cell. An entry for a
/// time segment has the motion of its sphere in the whole step. So the test of two spheres gives
/// the same result for all of their time segments.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct SortedProxy {
    pub(crate) center: [f32; 3],
    pub(crate) radius: f32,
    pub(crate) velocity: [f32; 3],
    pub(crate) sphere: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct SortedCell {
    /// The grid cell of the sphere, counted from a moving origin.
    pub(crate) cell: [i32; 3],
    pub(crate) tag: u32,
}
