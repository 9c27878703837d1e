//! The layout of the sorted proxies on the GPU.

use bytemuck::{Pod, Zeroable};

/// For tests of shaders. A segment has the motion of its sphere in the whole step, so that all
/// its segments give the same result.
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
