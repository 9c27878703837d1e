//! The answers to questions about two spheres.

use glam::DVec3;

/// When two spheres touch, and how deep they overlap then, each the float32 next to the
/// real number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Impact {
    /// The time of impact.
    pub(crate) toi: f32,
    /// The depth of an overlap at the start of the step; otherwise 0.
    pub(crate) depth: f32,
}

/// The arithmetic that an answer took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    /// Float64 with an error bound.
    Float64,
    /// Integers, where the bound left doubt.
    Integers,
}

/// Where two spheres are when they first touch, but for the last bits of a
/// float64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    /// The time, however late.
    pub(crate) time: f64,
    /// Unit vector from the centre of the first to that of the second.
    pub(crate) normal: DVec3,
    /// How fast they approach along it.
    pub(crate) approach: f64,
}
