//! Steps of spheres that are in buffers of the application.

use super::device_spheres::DeviceSpheres;
use crate::Step;

impl<'a, 'b> Step<'a, DeviceSpheres<'b>> {
    /// Every pair of `spheres`, which are in buffers of the application, that touches
    /// during a step of length `dt`. For
    /// [`CollisionBuffers::record`](super::CollisionBuffers::record).
    pub fn on_device(spheres: &'a DeviceSpheres<'b>, dt: f32) -> Self {
        Self {
            first: spheres,
            second: None,
            dt,
        }
    }

    /// Every pair of one sphere of `first` (index a) and one of `second` (index b) that
    /// touches during a step of length `dt`.
    pub fn between_on_device(
        first: &'a DeviceSpheres<'b>,
        second: &'a DeviceSpheres<'b>,
        dt: f32,
    ) -> Self {
        Self {
            first,
            second: Some(second),
            dt,
        }
    }
}
