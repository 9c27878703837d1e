//! The sorted proxies, in the layout in which the `pairs` stage reads them.

use bytemuck::{Pod, Zeroable};

/// The sphere of a proxy, as the swept test reads it. Even if the proxy is only one time segment of
/// the sphere, these values describe the motion of the whole sphere, so that the verdict on a pair
/// is the same for all of its candidates.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct SortedProxy {
    /// The sphere's centre at the start of the step.
    pub(crate) center: [f32; 3],
    /// The sphere's radius.
    pub(crate) radius: f32,
    /// The sphere's velocity.
    pub(crate) velocity: [f32; 3],
    /// Index of the sphere.
    pub(crate) sphere: u32,
}

/// The cell and the tag of a proxy.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct SortedCell {
    /// The proxy's cell in its level, counted from the origin of the frame.
    pub(crate) cell: [i32; 3],
    /// Tag of the proxy: its level and its time segment, packed by
    /// [`make_tag`](super::tag::make_tag).
    pub(crate) tag: u32,
}
