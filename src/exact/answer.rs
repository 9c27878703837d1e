//! Types for the results of the tests of two spheres: the impact (exact values, rounded to float32), the arithmetic
//! that decided it, and the first contact in float64.

use glam::DVec3;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Hit {
    pub(crate) toi: f32,
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
    Integers,
}

/// The last few digits may be wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) time: f64,
    pub(crate) normal: DVec3,
    pub(crate) approach: f64,
}
