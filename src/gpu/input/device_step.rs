//! Constructors of time steps with spheres in the application's GPU buffers.

use super::device_spheres::DeviceSpheres;
use crate::{Domain, Step};

impl<'a> Step<'a, DeviceSpheres<'a>> {
    /// Requests every pair of `spheres` that touches during a step of length `dt`, for
    /// [`CollisionBuffers::record`](crate::gpu::CollisionBuffers::record).
    ///
    /// The spheres are in GPU buffers of the application. `dt` and the times of impact are in the
    /// unit of time of the spheres' velocities. Pairs that collision groups exclude are left out. So are spheres with
    /// invalid values, such as NaN, of which [`Status::INVALID_SPHERES`](crate::gpu::Status) tells.
    pub fn on_device(spheres: DeviceSpheres<'a>, dt: f32) -> Self {
        Self {
            first: spheres,
            second: None,
            dt: dt.into(),
            domain: Domain::default(),
            walls: None,
            approaching: false,
        }
    }

    /// Requests every pair of one sphere of `first` (index a) and one sphere of `second` (index b)
    /// that touches during a step of length `dt`, for
    /// [`CollisionBuffers::record`](crate::gpu::CollisionBuffers::record).
    ///
    /// The units and the collision groups are the same as for [`on_device`](Self::on_device).
    pub fn between_on_device(first: DeviceSpheres<'a>, second: DeviceSpheres<'a>, dt: f32) -> Self {
        Self {
            first,
            second: Some(second),
            dt: dt.into(),
            domain: Domain::default(),
            walls: None,
            approaching: false,
        }
    }
}
