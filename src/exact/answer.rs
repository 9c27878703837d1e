//! What is told of two spheres.

use glam::DVec3;

/// When two spheres touch, and how deep, each the float32 next to the real
/// number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Impact {
    pub(crate) toi: f32,
    pub(crate) depth: f32,
}

/// What arithmetic an answer took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Float64,
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
