//! Moving spheres in the units of length and time of the grids.

use bytemuck::{Pod, Zeroable};

use super::moving_sphere::MovingSphere;

/// In the units of the grids (see [`Units`](super::units::Units)), unlike all other types of
/// spheres on the CPU.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct ScaledSphere {
    pub(crate) center: [f32; 3],
    pub(crate) radius: f32,
    pub(crate) velocity: [f32; 3],
    unused: u32,
}

impl ScaledSphere {
    #[inline(always)]
    pub(crate) fn new(center: [f32; 3], radius: f32, velocity: [f32; 3]) -> Self {
        Self {
            center,
            radius,
            velocity,
            unused: 0,
        }
    }
}

impl MovingSphere for ScaledSphere {
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
