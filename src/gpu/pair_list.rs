//! Lists of pairs that the host has read back.

use super::shader::layout::CaromCollision;
use super::summary::{RequiredCapacity, StepSummary};
use crate::Collisions;
use crate::exact::GRAZING;

/// The result of reading a list of pairs back.
#[derive(Clone, Debug)]
pub enum PairList<T> {
    /// The step with all of its pairs.
    Complete(T),
    /// The list is incomplete, so it is not returned. The value is the capacity that the step
    /// needs.
    ///
    /// If the buffers have this capacity already, only the readback was too small. The size of a
    /// readback follows from the number of pairs of the step that was read last. So the next
    /// readback has room for the number of pairs that this step found.
    Truncated(RequiredCapacity),
}

/// A pair as the GPU computed it, in float32.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RawCollision {
    /// Index of the first sphere: the smaller of the two spheres' indices. With two sets, the index
    /// of the sphere in the first set.
    pub a: u32,
    /// Index of the second sphere: the larger of the two spheres' indices. With two sets, the index
    /// of the sphere in the second set.
    pub b: u32,
    /// Time of impact within the step, with the rounding error of float32: see
    /// [the module](super). 0 if the spheres touch at the start.
    pub toi: f32,
    /// Depth of penetration at the start of the step, with the rounding error of float32. 0 if the
    /// spheres first touch after the start of the step.
    pub depth: f32,
    /// Whether float32 leaves open if the two spheres touch, or in which time segments they come
    /// closest to each other. A sphere that moves far is split in time into segments; see
    /// [`BufferOptions::segments`](super::BufferOptions::segments).
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

/// A step as the GPU computed it, in float32.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RawStep {
    /// The pairs, in no particular order. A grazing pair may be present several times.
    pub pairs: Vec<RawCollision>,
    /// Counts, status and stage times of the step.
    pub summary: StepSummary,
}

/// A step whose pairs the host has decided exactly.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ExactStep {
    /// The list that [`Detector::detect`](crate::Detector::detect) returns for all valid spheres of
    /// the step. The list's number of spheres is [`StepSummary::spheres`], which is 0 if one of two
    /// sets is empty.
    pub collisions: Collisions,
    /// Counts, status and stage times of the step on the GPU.
    pub summary: StepSummary,
}
