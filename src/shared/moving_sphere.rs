//! Common access to all types that store a moving sphere.

use bytemuck::Pod;

use crate::sphere::Sphere;

/// 32 bytes that begin with centre, radius and velocity, for [`rows`](crate::lanes::rows).
pub(crate) trait MovingSphere: Pod {
    fn center(&self) -> [f32; 3];
    fn radius(&self) -> f32;
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
