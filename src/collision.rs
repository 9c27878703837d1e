//! Two spheres that touch, and when.

use bytemuck::{Pod, Zeroable};

/// Two spheres that touch during the step, and when.
///
/// 16 bytes, laid out for a GPU storage buffer.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Collision {
    /// Index of one sphere: the smaller of the two, or between two sets
    /// ([`Step::between`](crate::Step::between)) the index in the first set.
    pub a: u32,
    /// Index of the other sphere: the larger of the two, or the index in the second set.
    pub b: u32,
    /// Time of impact: the earliest time in [0, dt] at which they touch, in the
    /// unit of dt. 0 for spheres that touch or overlap at the start.
    pub toi: f32,
    /// How deep they overlap at the start of the step (the sum of the radii
    /// less the distance of the centres), in the unit of length. 0 for a pair
    /// that meets later.
    pub depth: f32,
}
