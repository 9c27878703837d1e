//! Constructors of steps whose spheres are in the application's buffers.

use super::device_spheres::DeviceSpheres;
use crate::{Domain, Step};

impl<'a, 'b> Step<'a, DeviceSpheres<'b>> {
    /// Requests every pair of `spheres` that touches during a step of length `dt`, for
    /// [`CollisionBuffers::record`](super::CollisionBuffers::record).
    ///
    /// The spheres are in buffers of the application. `dt` and the times of impact are in the unit
    /// of time of the spheres' velocities. Pairs that the spheres' collision groups exclude are
    /// left out.
    pub fn on_device(spheres: &'a DeviceSpheres<'b>, dt: f32) -> Self {
        Self {
            first: spheres,
            second: None,
            dt,
            domain: Domain::default(),
        }
    }

    /// Requests every pair of one sphere of `first` (index a) and one sphere of `second` (index b)
    /// that touches during a step of length `dt`, for
    /// [`CollisionBuffers::record`](super::CollisionBuffers::record).
    ///
    /// See [`on_device`](Self::on_device) for the units and the collision groups.
    pub fn between_on_device(
        first: &'a DeviceSpheres<'b>,
        second: &'a DeviceSpheres<'b>,
        dt: f32,
    ) -> Self {
        Self {
            first,
            second: Some(second),
            dt,
            domain: Domain::default(),
        }
    }
}
