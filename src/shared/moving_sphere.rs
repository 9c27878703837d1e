//! Common access to all types that store a moving sphere.

use bytemuck::Pod;

use crate::sphere::Sphere;

/// A type that stores a moving sphere. It has 32 bytes, which begin with centre, radius and
/// velocity in this order, so that several values can be transposed
/// ([`rows`](crate::lanes::rows)).
pub(crate) trait MovingSphere: Pod {
    /// The sphere's centre at the start of the step.
    fn center(&self) -> [f32; 3];
    /// The sphere's radius.
    fn radius(&self) -> f32;
    /// The sphere's velocity.
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
