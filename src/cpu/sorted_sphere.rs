//! The sorted proxies, in the form in which the search for pairs reads them.

use bytemuck::{Pod, Zeroable};

use crate::shared::moving_sphere::MovingSphere;

/// In the caller's units. A segment has the motion of its sphere in the whole step, so that all
/// its segments give the same result.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct SortedSphere {
    pub(crate) center: [f32; 3],
    pub(crate) radius: f32,
    pub(crate) velocity: [f32; 3],
    /// See [`ProxySpace`](super::images::ProxySpace).
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
