//! Lists of pairs of spheres that the host has read back from the GPU.

use super::summary::StepSummary;
use crate::exact::GRAZING;
use crate::gpu::device::shader::constants::IMAGE_BITS;
use crate::gpu::device::shader::layout::{CaromCollision, CaromWallCollision};
use crate::{Collision, Collisions, Hits, WallCollision};

pub(crate) fn unpacked_image(word: u32) -> [i32; 3] {
    let component = |k: u32| {
        let bits = word >> (IMAGE_BITS * (2 - k)) & ((1 << IMAGE_BITS) - 1);
        bits as i32 - (1 << (IMAGE_BITS - 1))
    };
    [0, 1, 2].map(component)
}

/// The result of a step as the GPU computed it. Returned by
/// [`CollisionBuffers::read_raw`](crate::gpu::CollisionBuffers::read_raw).
///
/// Times and depths of grazing pairs and of walls are not exact: see [the module](crate::gpu). Entry k of a list is entry k of the list on the GPU,
/// which has no particular order.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RawCollisions {
    pairs: Hits<Collision>,
    /// For each pair, whether it is grazing.
    grazing: Vec<bool>,
    walls: Hits<WallCollision>,
    /// For each wall collision, whether it is grazing.
    wall_grazing: Vec<bool>,
    summary: StepSummary,
}

impl RawCollisions {
    pub(crate) fn new(
        pairs: (Vec<CaromCollision>, Vec<[i32; 3]>),
        walls: (Vec<CaromWallCollision>, Vec<[i32; 3]>),
        summary: StepSummary,
    ) -> Self {
        let ((pairs, images), (walls, wall_images)) = (pairs, walls);
        let is_grazing = |word: u32| word & GRAZING != 0;
        let grazing = pairs.iter().map(|pair| is_grazing(pair.b_and_grazing));
        let wall_grazing = walls.iter().map(|hit| is_grazing(hit.wall_and_grazing));
        Self {
            grazing: grazing.collect(),
            wall_grazing: wall_grazing.collect(),
            pairs: Hits {
                items: pairs.into_iter().map(without_flag).collect(),
                images,
            },
            walls: Hits {
                items: walls.into_iter().map(wall_without_flag).collect(),
                images: wall_images,
            },
            summary,
        }
    }

    /// Returns the pairs of spheres that touch during the step, or may touch if they are grazing. A
    /// grazing pair may be present several times.
    ///
    /// In buffers for periodic domains
    /// ([`BufferOptions::with_periodic`](crate::gpu::BufferOptions::with_periodic)), the image of a pair
    /// is the image of its second sphere: how many times each edge of the domain displaces it.
    pub fn pairs(&self) -> &Hits<Collision> {
        &self.pairs
    }

    /// Returns whether pair `k` is grazing: the GPU leaves open whether the spheres touch, or in
    /// which time segment their closest approach is. Returns false for a pair that does not exist.
    pub fn is_grazing(&self, k: usize) -> bool {
        self.grazing.get(k).copied().unwrap_or_default()
    }

    /// Returns the spheres that touch walls, or may touch them. Each sphere and wall is present
    /// once or, in a periodic domain, once for each image of the sphere. A grazing triangle may be
    /// present several times.
    ///
    /// In buffers for periodic domains, the image of an entry is the image of the sphere that
    /// touches the wall.
    pub fn walls(&self) -> &Hits<WallCollision> {
        &self.walls
    }

    /// Returns whether entry `k` of [`walls`](Self::walls) is grazing: float32 leaves open whether the sphere touches
    /// the wall. Returns false for an entry that does not exist.
    pub fn is_wall_grazing(&self, k: usize) -> bool {
        self.wall_grazing.get(k).copied().unwrap_or_default()
    }

    /// Returns the counts, the status and the stage times of the step on the GPU.
    pub fn summary(&self) -> &StepSummary {
        &self.summary
    }
}

fn without_flag(pair: CaromCollision) -> Collision {
    Collision {
        a: pair.a,
        b: pair.b_and_grazing & !GRAZING,
        toi: pair.toi,
        depth: pair.depth,
    }
}

fn wall_without_flag(hit: CaromWallCollision) -> WallCollision {
    WallCollision {
        sphere: hit.sphere,
        wall: hit.wall_and_grazing & !GRAZING,
        toi: hit.toi,
        depth: hit.depth,
    }
}

/// The result of a step after the host has decided exactly which pairs touch. Returned by
/// [`CollisionBuffers::read_exact`](crate::gpu::CollisionBuffers::read_exact).
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ExactCollisions {
    /// The same list that [`Detector::detect`](crate::Detector::detect) returns for the valid spheres of the
    /// step. Results with one entry per sphere, such as [`Collisions::earliest`], have
    /// [`StepSummary::spheres`] entries.
    pub collisions: Collisions,
    /// Counts, status and stage times of the step on the GPU.
    pub summary: StepSummary,
}
