//! The sorted proxies (time segments of spheres), in the layout in which the stage `pairs` reads
//! them.

use bytemuck::{Pod, Zeroable};

/// The sphere of a sorted proxy (sphere or time segment). The values describe the motion of the
/// whole sphere, so that all segments of two spheres give the same test result.
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
    /// The grid cell, counted from the frame's origin (the moving origin of the cells).
    pub(crate) cell: [i32; 3],
    pub(crate) tag: u32,
}
