//! The sphere of a sorted proxy, in the form in which the `pairs` stage reads it.

use bytemuck::{Pod, Zeroable};

use crate::shared::moving_sphere::MovingSphere;

/// The sphere of a proxy, as the swept test reads it. Even if the proxy is only one time segment of
/// the sphere, these values describe the motion of the whole sphere, so that a pair gets the same
/// verdict in every segment. All values are in the caller's units. (The sorted proxies of a GPU are
/// in the units of the grids.)
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct SortedSphere {
    /// The sphere's centre at the start of the step.
    pub(crate) center: [f32; 3],
    /// The sphere's radius.
    pub(crate) radius: f32,
    /// The sphere's velocity.
    pub(crate) velocity: [f32; 3],
    /// The word of the proxy in its [`ProxySpace`](super::images::ProxySpace): in open space the
    /// index of the sphere.
    pub(crate) word: u32,
}

impl SortedSphere {
    /// Copies a sphere and attaches the word of a proxy.
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
