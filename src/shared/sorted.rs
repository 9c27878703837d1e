//! The layout of the sorted proxies on the GPU.

use bytemuck::{Pod, Zeroable};

/// A sorted proxy, for tests of shaders. A segment has the motion of its sphere in the whole step. So the test of two
/// spheres gives the same result for all of their segments.
#[cfg(test)]
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
    pub(crate) cell: [i32; 3],
    pub(crate) tag: u32,
}
