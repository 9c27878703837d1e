//! Lists of pairs of spheres that the host has read back from the GPU.

use super::shader::constants::IMAGE_BITS;
use super::shader::layout::{CaromCollision, CaromWallCollision};
use super::summary::{RequiredCapacity, StepSummary};
use crate::Collisions;
use crate::exact::GRAZING;

/// The result of reading the pairs of a step back from the GPU.
#[derive(Clone, Debug)]
pub enum PairList<T> {
    /// The result of the step, with all of its pairs.
    Complete(T),
    /// The capacity that the step needs, returned instead of an incomplete list of pairs.
    ///
    /// If the buffers already have the required capacity, only the readback was too small. The next
    /// readback will have room, because its size follows the number of pairs of the last step that
    /// was read back.
    Truncated(RequiredCapacity),
}

/// Two spheres that touch during the step, or may touch, with the values that the GPU computed in
/// float32.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RawCollision {
    /// Index of the first sphere: the smaller index, or with two sets the index in the first set.
    pub a: u32,
    /// Index of the second sphere: the larger index, or with two sets the index in the second set.
    pub b: u32,
    /// Time of impact within the step, computed in float32 and so not exact: see [the
    /// module](super). It is 0 if the spheres touch at the start of the step.
    pub toi: f32,
    /// Depth of penetration at the start of the step, computed in float32 and so not exact. It is 0
    /// if the spheres first touch later.
    pub depth: f32,
    /// Whether the pair is grazing: float32 leaves open whether the spheres touch, or in which time
    /// segment (part of a fast sphere's path) their closest approach is.
    pub grazing: bool,
}

/// A sphere and a wall that touch during the step, or may touch, with the values that the GPU
/// computed in float32.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RawWallCollision {
    /// Index of the sphere. The indices of a second set continue those of the first.
    pub sphere: u32,
    /// Number of the wall.
    pub wall: u32,
    /// Time of impact within the step, computed in float32 and so not exact. It is 0 if the sphere
    /// touches the wall at the start of the step.
    pub toi: f32,
    /// Depth of penetration at the start of the step, computed in float32 and so not exact. It is 0
    /// if the sphere first touches the wall later.
    pub depth: f32,
    /// Whether float32 leaves open whether the sphere touches the wall.
    pub grazing: bool,
}

impl From<CaromWallCollision> for RawWallCollision {
    fn from(collision: CaromWallCollision) -> Self {
        Self {
            sphere: collision.sphere,
            wall: collision.wall_and_grazing & !GRAZING,
            toi: collision.toi,
            depth: collision.depth,
            grazing: collision.wall_and_grazing & GRAZING != 0,
        }
    }
}

pub(super) fn unpacked_image(word: u32) -> [i32; 3] {
    let component = |k: u32| {
        let bits = word >> (IMAGE_BITS * (2 - k)) & ((1 << IMAGE_BITS) - 1);
        bits as i32 - (1 << (IMAGE_BITS - 1))
    };
    [0, 1, 2].map(component)
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

/// The result of a step as the GPU computed it, in float32.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RawStep {
    /// Pairs of spheres, in no particular order. A grazing pair (undecided in float32) may be
    /// present several times.
    pub pairs: Vec<RawCollision>,
    /// For each pair, the image (periodic copy) of its second sphere: how many times each edge of
    /// the domain displaces it. Empty unless the buffers are for periodic domains
    /// ([`BufferOptions::with_periodic`](super::BufferOptions::with_periodic)).
    pub images: Vec<[i32; 3]>,
    /// Spheres that touch walls, in no particular order. Each sphere and wall is present once or, in
    /// a periodic domain, once for each image (periodic copy) of the sphere. A grazing triangle may be
    /// present several times.
    pub walls: Vec<RawWallCollision>,
    /// For each wall collision in `walls`, the image (periodic copy) of the sphere that touches the
    /// wall: how many times each edge of the domain displaces it. Empty unless the buffers are for
    /// periodic domains ([`BufferOptions::with_periodic`](super::BufferOptions::with_periodic)).
    pub wall_images: Vec<[i32; 3]>,
    /// Counts, status and stage times of the step on the GPU.
    pub summary: StepSummary,
}

/// The result of a step after the host has decided exactly which pairs touch.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ExactStep {
    /// The same list that [`Detector::detect`](crate::Detector::detect) returns for the valid spheres of the
    /// step. Results with one entry per sphere, such as [`Collisions::earliest`], have
    /// [`StepSummary::spheres`] entries.
    pub collisions: Collisions,
    /// Counts, status and stage times of the step on the GPU.
    pub summary: StepSummary,
}
