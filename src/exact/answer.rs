//! Types for the exact results of a pair of spheres.

use glam::DVec3;

/// Time of impact and penetration depth of two spheres that touch, each rounded to the nearest
/// float32.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Impact {
    /// Time of impact, in the unit of `dt`, the duration of the step.
    pub(crate) toi: f32,
    /// Penetration depth at the start of the step; 0 if the spheres do not overlap then.
    pub(crate) depth: f32,
}

/// The arithmetic by which a pair was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    /// Float64 with an error bound.
    Float64,
    /// Exact integers. They are used where the error bound of float64 was too large for a decision.
    Integers,
}

/// Geometry of the first touch of two spheres, computed in float64. Only the last bits of the
/// values may be wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    /// Time of the first touch, which may be after the end of the step.
    pub(crate) time: f64,
    /// Unit vector from the centre of the first sphere towards the centre of the second.
    pub(crate) normal: DVec3,
    /// Speed at which the spheres approach each other along `normal`.
    pub(crate) approach: f64,
}
