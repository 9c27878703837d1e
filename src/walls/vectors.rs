//! Vectors in float64.

use glam::{DVec3, Vec3};

use crate::wide::to_one;

pub(crate) fn vector(x: [f32; 3]) -> DVec3 {
    Vec3::from(x).as_dvec3()
}

/// Not 0, because float32 rounds the directions of vectors.
pub(super) const ALIGNED: f64 = 1e-6;

/// Neither may be 0.
pub(crate) fn is_parallel(axis: DVec3, edge: DVec3) -> bool {
    unit(axis).cross(unit(edge)).length() <= ALIGNED
}

/// `x` must not be 0.
pub(crate) fn unit(x: DVec3) -> DVec3 {
    // The squares of very long or very short vectors are out of range.
    (x * to_one(x.abs().max_element())).normalize()
}
