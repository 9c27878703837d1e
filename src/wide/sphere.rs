//! Spheres in float64 as the stages read them.

use bytemuck::{Pod, Zeroable};

use crate::HardSphere;

/// A sphere in float64, in one cache line. A [`HardSphere`] has the same layout, with a mass where this type has the
/// collision groups.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub struct WideSphere {
    pub(crate) center: [f64; 3],
    pub(crate) velocity: [f64; 3],
    pub(crate) radius: f64,
    pub(crate) groups: u32,
    unused: u32,
}

impl WideSphere {
    pub(crate) fn new(center: [f64; 3], radius: f64, velocity: [f64; 3]) -> Self {
        Self {
            center,
            velocity,
            radius,
            ..Self::default()
        }
    }
}

/// Returns spheres of a simulation as spheres of a step. Their groups have no meaning.
pub(super) fn without_groups(spheres: &[HardSphere]) -> &[WideSphere] {
    bytemuck::cast_slice(spheres)
}
