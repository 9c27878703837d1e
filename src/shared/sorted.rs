//! The layout of the sorted spheres on the GPU. They are sorted by cell, for the search for
//! touching pairs.

use bytemuck::{Pod, Zeroable};

/// A sphere in the sorted order, with its motion during the whole step even if it stands for one
/// time segment. So all segments of two spheres give the same test result.
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
