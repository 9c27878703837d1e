//! Defines [`Collision`] and [`Collision64`], the entries of lists of collisions.

use bytemuck::{Pod, Zeroable};

use crate::number::sealed::Touching;

/// Two spheres that touch during a time step, with their time of impact.
///
/// A `Collision` has 16 bytes, and an array of them has the layout of an array in a GPU storage buffer.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Collision {
    /// Index of one sphere. In a step of one set, it is the smaller index of the pair. In a step of
    /// two sets ([`Step::between`](crate::Step::between)), it is the index in the first set.
    pub a: u32,
    /// Index of the other sphere. In a step of one set, it is the larger index of the pair. In a
    /// step of two sets, it is the index in the second set.
    pub b: u32,
    /// Time of impact: the earliest time in [0, dt] at which the spheres touch, in the unit of dt. The time
    /// is 0 if they touch or overlap at the start of the step.
    pub toi: f32,
    /// Penetration depth at the start of the step, in the unit of length: the sum of the radii minus the
    /// distance of the centres. The depth is 0 for spheres that touch only later.
    pub depth: f32,
}

/// A [`Collision`] of spheres in float64.
///
/// A `Collision64` has 24 bytes.
// It is a type of its own, because `Collision` is `Pod`, which no generic type can be without unsafe code.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Collision64 {
    /// Index of one sphere, as in [`Collision::a`].
    pub a: u32,
    /// Index of the other sphere, as in [`Collision::b`].
    pub b: u32,
    /// Time of impact, as in [`Collision::toi`].
    pub toi: f64,
    /// Penetration depth at the start of the step, as in [`Collision::depth`].
    pub depth: f64,
}

impl Touching<f32> for Collision {
    fn sides(&self) -> [u32; 2] {
        [self.a, self.b]
    }

    fn toi(&self) -> f32 {
        self.toi
    }
}

impl Touching<f64> for Collision64 {
    fn sides(&self) -> [u32; 2] {
        [self.a, self.b]
    }

    fn toi(&self) -> f64 {
        self.toi
    }
}
