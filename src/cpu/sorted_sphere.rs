//! A sorted proxy's sphere, in the form in which `pairs` reads it.

use bytemuck::{Pod, Zeroable};

use crate::shared::moving_sphere::MovingSphere;

/// What the swept test reads of a proxy: the motion of its whole sphere, never of the
/// segment, so that a pair gets the same verdict wherever it is met. In the caller's units;
/// a GPU has its sorted proxies in those of the grids.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct SortedSphere {
    /// The sphere's centre at the start of the step.
    pub(crate) center: [f32; 3],
    /// The sphere's radius.
    pub(crate) radius: f32,
    /// The sphere's velocity.
    pub(crate) velocity: [f32; 3],
    /// The sphere's index.
    pub(crate) sphere: u32,
}

impl SortedSphere {
    /// The sphere with this index.
    #[inline(always)]
    pub(crate) fn new(sphere: &impl MovingSphere, index: u32) -> Self {
        Self {
            center: sphere.center(),
            radius: sphere.radius(),
            velocity: sphere.velocity(),
            sphere: index,
        }
    }
}

impl MovingSphere for SortedSphere {
    #[inline(always)]
    fn center(&self) -> [f32; 3] {
        self.center
    }

    #[inline(always)]
    fn radius(&self) -> f32 {
        self.radius
    }

    #[inline(always)]
    fn velocity(&self) -> [f32; 3] {
        self.velocity
    }
}
