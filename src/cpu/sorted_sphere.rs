//! The sphere of a sorted proxy, in the form in which the stage `pairs` reads it.

use bytemuck::{Pod, Zeroable};

use crate::shared::moving_sphere::MovingSphere;

/// The sphere of a proxy, in the caller's units. The values describe the motion of the whole sphere
/// even if the proxy is one time segment, so that all segments of two spheres give the same test
/// result.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct SortedSphere {
    pub(crate) center: [f32; 3],
    pub(crate) radius: f32,
    pub(crate) velocity: [f32; 3],
    /// Identifies the sphere or time segment: in open space by the index of its sphere, in a
    /// periodic domain by a number that [`ProxySpace`](super::images::ProxySpace) decodes.
    pub(crate) word: u32,
}

impl SortedSphere {
    #[inline(always)]
    pub(crate) fn new(sphere: &impl MovingSphere, word: u32) -> Self {
        Self {
            center: sphere.center(),
            radius: sphere.radius(),
            velocity: sphere.velocity(),
            word,
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
