//! The summary of a time step: its counts, its status, and the capacity of the buffers that it
//! needed.

use std::time::Duration;

use super::capacity::{Capacity, MeshCapacity};
use super::status::Status;
use crate::gpu::device::shader::layout::CaromResults;

impl MeshCapacity {
    fn new(results: &CaromResults) -> Self {
        Self {
            segments: wide(results.segments),
            pairs: wide(results.found),
            images: wide(results.images),
            segment: results.segment,
        }
    }
}

/// Counts, status and stage times of a time step on the GPU.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StepSummary {
    /// Status bits: whether and why pairs may be missing, and whether there are invalid spheres.
    pub status: Status,
    /// Number of pairs that the GPU found in float32. Some of them may not touch, and some may count several times: see
    /// [the module](crate::gpu).
    pub found: u64,
    /// Number of pairs in the list on the GPU. It is less than `found` if the list is too small, or if some of the
    /// found pairs do not touch.
    pub pairs: u64,
    /// Number of pairs in the list on the GPU that are marked as grazing.
    pub grazing: u64,
    /// Number of spheres, in both sets together if the step has two sets. If one of two sets is empty, the
    /// step does not search for pairs, and this number is 0. But in buffers for walls, the spheres of the
    /// other set are counted.
    pub spheres: u64,
    /// Number of spheres in the first set if the step has two sets of spheres, or 0 if `spheres` is 0. `None`
    /// if the step has one set. In buffers with an element per sphere, this is the index of the first sphere
    /// of the second set.
    pub second_set_start: Option<u64>,
    /// Number of spheres that were left out because of an invalid value.
    pub invalid: u64,
    /// Indices of at most 32 of the invalid spheres. The indices of a second set continue those of
    /// the first.
    pub invalid_spheres: Vec<u32>,
    /// Number of proxies in the grids: one for each uncut sphere, and one for each time segment of
    /// a fast sphere.
    pub proxies: u64,
    /// Number of uniform grids in which the step searched for pairs.
    pub levels: u32,
    /// Number of candidates: pairs to test for contact. All candidates are counted, but if the status has
    /// [`Status::TOO_CROWDED`], most of them were not tested.
    pub candidates: u64,
    /// Number of candidates in the search for spheres near triangles of meshes: pairs of a sphere
    /// and a triangle to test. `candidates` does not include them. The option
    /// [`BufferOptions::with_max_candidates`](crate::gpu::BufferOptions::with_max_candidates) limits this number
    /// and `candidates` separately.
    pub mesh_candidates: u64,
    /// Number of time segments, without the first segment of each sphere: see
    /// [`BufferOptions::with_segments`](crate::gpu::BufferOptions::with_segments).
    pub segments: u64,
    /// In a periodic domain: number of images of spheres and time segments that are added to the
    /// grids because they reach into the domain's cell. The number in `segments` includes these
    /// images.
    pub images: u64,
    /// Index of a sphere that is too far from the cell of the periodic domain, or has too many
    /// images ([`Status::IMAGE_OUT_OF_RANGE`]), or `None`. The indices of a second set continue
    /// those of the first. The index of a triangle has 2³¹ added.
    pub out_of_range: Option<u32>,
    /// Number of wall collisions that the GPU found.
    pub walls_found: u64,
    /// Number of wall collisions in the list on the GPU; less than `walls_found` if the list is too
    /// small.
    pub walls: u64,
    /// Number of pairs in the sorted list, which has each pair once. It is 0 if no such list is
    /// computed.
    pub sorted: u64,
    /// Number of pairs that began with this step: pairs that the last complete step does not have.
    /// The numbers `began`, `lasted` and `ended` are 0 if the step computes no changes or its list
    /// is incomplete.
    pub began: u64,
    /// Number of pairs of this step that were also in the last complete step before it.
    pub lasted: u64,
    /// Number of pairs of the last complete step that this step does not have.
    pub ended: u64,
    /// Number of entries in the neighbour list; 0 for a step that is no search for neighbours.
    pub neighbors: u64,
    /// Whether a search for neighbours kept the list of an earlier search:
    /// [`CollisionBuffers::record_neighbors`](crate::gpu::CollisionBuffers::record_neighbors). The
    /// status and the other numbers are then those of the earlier search.
    pub kept: bool,
    /// Name and time on the device of each stage, in order. If the option
    /// [`kernel_times`](crate::gpu::BufferOptions::with_kernel_times) is set, the list has each dispatch of a
    /// kernel instead. It is empty unless
    /// [`BufferOptions::with_timestamp_period`](crate::gpu::BufferOptions::with_timestamp_period) is set and the
    /// device has timestamps.
    pub stages: Vec<(&'static str, Duration)>,
    required: Option<Capacity>,
    /// Number of spheres beyond what the application permits, although the buffers have
    /// room for them. Otherwise `None`.
    pub(crate) past_at_most: Option<u64>,
}

/// Marks the number of a wall among indices of spheres, and that of a triangle in
/// `CaromResults::out_of_range`.
pub(crate) const WALL: u32 = 1 << 31;

fn wide([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

impl StepSummary {
    pub(crate) fn new(
        results: &CaromResults,
        mesh: Option<&CaromResults>,
        two_sets: bool,
        sphere_capacity: u64,
        stages: Vec<(&'static str, Duration)>,
    ) -> Self {
        let required = Capacity {
            spheres: results.spheres_needed.into(),
            segments: wide(results.segments),
            pairs: wide(results.found),
            images: wide(results.images),
            wall_collisions: wide(results.walls_found),
            segment: results.segment,
            mesh: mesh.map_or_else(MeshCapacity::default, MeshCapacity::new),
        };
        let status = Status::from_bits_retain(results.status);
        let too_many_spheres = status.contains(Status::TOO_MANY_SPHERES);
        let fit = required.spheres <= sphere_capacity;
        let overflow = Status::TRUNCATED
            | Status::TOO_MANY_SEGMENTS
            | Status::WALLS_TRUNCATED
            | Status::MESH_TRUNCATED;
        let too_small = status.intersects(overflow) || too_many_spheres && !fit;
        let listed = results.invalid.min(results.invalid_index.len() as u32) as usize;
        Self {
            status,
            found: wide(results.found),
            pairs: results.pairs.into(),
            grazing: results.grazing.into(),
            spheres: results.spheres.into(),
            second_set_start: two_sets.then_some(results.b_offset.into()),
            invalid: results.invalid.into(),
            invalid_spheres: results.invalid_index[..listed].to_vec(),
            proxies: results.proxies.into(),
            levels: results.levels,
            candidates: wide(results.candidates),
            mesh_candidates: mesh.map_or(0, |mesh| wide(mesh.candidates)),
            segments: wide(results.segments),
            images: wide(results.images),
            out_of_range: Some(results.out_of_range).filter(|&index| index != u32::MAX),
            walls_found: wide(results.walls_found),
            walls: results.walls.into(),
            sorted: results.sorted.into(),
            began: results.began.into(),
            lasted: results.lasted.into(),
            ended: results.ended.into(),
            neighbors: 0,
            kept: false,
            stages,
            required: too_small.then_some(required),
            past_at_most: (too_many_spheres && fit).then_some(required.spheres),
        }
    }

    pub(crate) fn with_neighbors(self, results: &CaromResults) -> Self {
        Self {
            neighbors: results.neighbors.into(),
            kept: results.kept != 0,
            ..self
        }
    }

    pub(crate) fn triangle_out_of_range(&self) -> Option<u32> {
        let word = self.out_of_range?;
        (word & WALL != 0).then_some(word & !WALL)
    }

    /// Returns whether the lists on the GPU contain every pair and every wall collision of the step.
    pub fn is_complete(&self) -> bool {
        !self.status.intersects(Status::INCOMPLETE)
    }

    /// Returns the capacity that the step needed if the buffers were too small, otherwise `None`.
    ///
    /// A step also finds no pairs if a GPU buffer gives more spheres than permitted:
    /// [`DeviceSpheres::with_count_in`](crate::gpu::DeviceSpheres::with_count_in). If carom's buffers
    /// have room for that many spheres, they are not too small, so this method returns `None`.
    pub fn required_capacity(&self) -> Option<Capacity> {
        self.required
    }
}
