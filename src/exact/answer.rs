//! Types for the results of the tests of two spheres: the impact (exact values, rounded to float32), the arithmetic
//! that decided it, and the first contact in float64.

use glam::DVec3;

/// The exact result for two spheres that touch, rounded to the nearest float32.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Hit {
    pub(crate) toi: f32,
    /// Penetration depth at the start of the step, or 0 if the spheres do not overlap then.
    pub(crate) depth: f32,
}

impl From<[f32; 2]> for Hit {
    fn from([toi, depth]: [f32; 2]) -> Self {
        Self { toi, depth }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Float64,
    /// Exact integers decided the pair, because the error bound of float64 was too large.
    Integers,
}

/// Time, direction and speed of the first contact of two spheres. The last few digits of these numbers may be
/// wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) time: f64,
    pub(crate) normal: DVec3,
    /// Speed at which the spheres approach each other along the vector `normal`.
    pub(crate) approach: f64,
}
