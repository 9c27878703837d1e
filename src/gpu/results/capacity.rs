//! The capacity that the buffers of a step have or need.

/// Capacity that a step needs, for [`CollisionBuffers::grow`](crate::gpu::CollisionBuffers::grow), or that buffers
/// have: [`CollisionBuffers::capacity`](crate::gpu::CollisionBuffers::capacity).
/// [`Error::Truncated`](crate::Error::Truncated) and [`StepSummary::required_capacity`](crate::gpu::StepSummary::required_capacity) contain what a step needs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Capacity {
    /// Number of spheres, in both sets together if the step has two sets.
    pub spheres: u64,
    /// Number of time segments, without the first segment of each sphere: see
    /// [`BufferOptions::with_segments`](crate::gpu::BufferOptions::with_segments).
    pub segments: u64,
    /// Number of pairs found, or 0 if the step ended before it counted pairs.
    pub pairs: u64,
    /// Number of images of spheres in a periodic domain, which `segments` includes.
    pub images: u64,
    /// Number of wall collisions found.
    pub wall_collisions: u64,
    /// In the grids' unit of length.
    pub(crate) segment: f32,
    pub(crate) mesh: MeshCapacity,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct MeshCapacity {
    pub(crate) segments: u64,
    pub(crate) pairs: u64,
    pub(crate) images: u64,
    pub(crate) segment: f32,
}

impl Capacity {
    /// Returns the capacity for `spheres` spheres (in both sets together if a step has two sets),
    /// and for no time segments and no pairs.
    pub fn for_spheres(spheres: u64) -> Self {
        Self {
            spheres,
            segments: 0,
            pairs: 0,
            images: 0,
            wall_collisions: 0,
            segment: 0.0,
            mesh: MeshCapacity::default(),
        }
    }
}
