//! The sorted proxies, in the form in which `pairs` reads them.

use bytemuck::{Pod, Zeroable};

/// What the swept test reads of a proxy: the motion of its whole sphere, never
/// of the segment, so that a pair gets the same verdict wherever it is met.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct SortedProxy {
    /// The sphere's centre at the start of the step.
    pub(crate) center: [f32; 3],
    /// Its radius.
    pub(crate) radius: f32,
    /// Its velocity.
    pub(crate) velocity: [f32; 3],
    /// Its index.
    pub(crate) sphere: u32,
}

/// A proxy's cell.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct SortedCell {
    /// Cell in its level, counted from the frame's origin.
    pub(crate) cell: [i32; 3],
    /// Level and segment, see [`make_tag`](super::tag::make_tag).
    pub(crate) tag: u32,
}
