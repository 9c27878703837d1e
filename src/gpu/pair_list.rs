//! Lists of pairs as the host reads them back.

use super::shader::layout::CaromCollision;
use super::summary::{RequiredCapacity, StepSummary};
use crate::Collisions;
use crate::exact::GRAZING;

/// A list that was read back.
#[derive(Clone, Debug)]
pub enum PairList<T> {
    /// The step, with every pair.
    Complete(T),
    /// The list is not whole, so it is not handed out. This is the room it needs. When
    /// the buffers have as much room, only the readback was too small: its size follows
    /// the last count that was read, so the next readback has room.
    Truncated(RequiredCapacity),
}

/// A pair as the GPU has it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RawCollision {
    /// The smaller of the two indices; with two sets, the index in the first one.
    pub a: u32,
    /// The other index.
    pub b: u32,
    /// Time of impact in float32: see [the module](super).
    pub toi: f32,
    /// Depth in float32.
    pub depth: f32,
    /// Whether float32 cannot tell if the two touch, or to which time segments of a
    /// fast sphere the pair belongs.
    pub grazing: bool,
}

impl From<CaromCollision> for RawCollision {
    fn from(pair: CaromCollision) -> Self {
        Self {
            a: pair.a,
            b: pair.b_and_grazing & !GRAZING,
            toi: pair.toi,
            depth: pair.depth,
            grazing: pair.b_and_grazing & GRAZING != 0,
        }
    }
}

/// A step as the GPU has it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RawStep {
    /// The pairs, in any order.
    pub pairs: Vec<RawCollision>,
    /// The numbers of the step.
    pub summary: StepSummary,
}

/// A step, decided exactly.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ExactStep {
    /// The list that [`Detector::detect`](crate::Detector::detect) gives for all
    /// spheres but the invalid ones. Its sphere count is
    /// [`StepSummary::spheres`], so 0 where one of two sets is empty.
    pub collisions: Collisions,
    /// The numbers of the step on the GPU.
    pub summary: StepSummary,
}
