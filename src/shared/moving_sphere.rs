//! A sphere's motion, in whatever form it is stored.

use bytemuck::Pod;

use crate::sphere::Sphere;

/// What can be read as a moving sphere. Its 32 bytes begin with center, radius and
/// velocity, so that several can be transposed ([`rows`](crate::lanes::rows)).
pub(crate) trait MovingSphere: Pod {
    /// The centre at the start of the step.
    fn center(&self) -> [f32; 3];
    /// The radius.
    fn radius(&self) -> f32;
    /// The velocity.
    fn velocity(&self) -> [f32; 3];
}

impl MovingSphere for Sphere {
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
