//! The summary of a time step: its counts, its status, and the capacity of the buffers that it
//! needed.

use std::time::Duration;

use super::shader::layout::CaromResults;
use super::status::Status;

/// Capacity of the GPU buffers that a step needs.
/// [`CollisionBuffers::grow`](super::CollisionBuffers::grow) makes buffers of at least this
/// capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RequiredCapacity {
    /// Number of spheres. With two sets, the spheres of both sets together.
    pub spheres: u64,
    /// Number of time segments besides each sphere's first. The path of a sphere that moves far is
    /// split into segments of equal time; see
    /// [`BufferOptions::segments`](super::BufferOptions::segments).
    pub segments: u64,
    /// Number of pairs of spheres found; 0 if the step ended before it counted pairs.
    pub pairs: u64,
    /// Length of the time segments of the step: the distance that a fast sphere moves in one
    /// segment, in the unit of length of the grids.
    pub(super) segment: f32,
}

impl RequiredCapacity {
    /// Returns the capacity for `spheres` spheres, in both sets together if there are two. In the
    /// returned capacity, the numbers of time segments and pairs are 0.
    pub fn for_spheres(spheres: u64) -> Self {
        Self {
            spheres,
            segments: 0,
            pairs: 0,
            segment: 0.0,
        }
    }
}

/// Counts, status and stage times of a time step on the GPU.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StepSummary {
    /// Status bits of the step: whether and why pairs may be missing, and whether there are invalid
    /// spheres.
    pub status: Status,
    /// Number of pairs that the GPU found. Grazing pairs (too close to call in float32) may be
    /// counted several times: see [the module](super).
    pub found: u64,
    /// Number of pairs in the list on the GPU. It is less than `found` if the list is too small for
    /// all pairs.
    pub pairs: u64,
    /// Number of spheres. With two sets, the spheres of both sets together. If one of two sets is
    /// empty, no pairs are searched for, and this number is 0.
    pub spheres: u64,
    /// Number of spheres in the first of two sets; 0 if one of the two sets is empty; `None` if
    /// there is one set. In buffers with an element for each sphere of both sets, this number is
    /// the index of the second set's first sphere.
    pub second_set_start: Option<u64>,
    /// Number of spheres that were left out because they have an invalid value.
    pub invalid: u64,
    /// Indices of at most 32 of the invalid spheres. With two sets, the indices of the second set
    /// continue those of the first set.
    pub invalid_spheres: Vec<u32>,
    /// Number of proxies (entries of the grids). A sphere has one proxy, or one for each time
    /// segment if its path is split. Invalid spheres have none.
    pub proxies: u64,
    /// Number of uniform grids in which the step searched for pairs.
    pub levels: u32,
    /// Number of candidates: pairs of grid entries that were tested for contact. With
    /// [`Status::TOO_CROWDED`], no candidate was tested, and this is the number of candidates that
    /// the step has.
    pub candidates: u64,
    /// Number of time segments besides each sphere's first. The path of a sphere that moves far is
    /// split into segments of equal time; see
    /// [`BufferOptions::segments`](super::BufferOptions::segments).
    pub segments: u64,
    /// Number of pairs in the sorted list, which contains each pair once; 0 if the step computes no
    /// sorted list.
    pub sorted: u64,
    /// Number of pairs that began with this step, so that the list of the last complete step does
    /// not contain them. The numbers `began`, `lasted` and `ended` are 0 if the step computes no
    /// changes or if its list is incomplete.
    pub began: u64,
    /// Number of pairs of this step that the list of the last complete step contains too.
    pub lasted: u64,
    /// Number of pairs of the last complete step that are not in the list of this step.
    pub ended: u64,
    /// Name of each stage of the step and its time on the device, in the order of the stages. Empty
    /// if [`BufferOptions::timestamp_period`](super::BufferOptions::timestamp_period) is not set or
    /// the device has no timestamps.
    pub stages: Vec<(&'static str, Duration)>,
    required: Option<RequiredCapacity>,
    /// Number of spheres, if the count that the application keeps in a GPU buffer exceeds the
    /// permitted `at_most` but not the capacity of carom's buffers; otherwise `None`.
    pub(super) past_at_most: Option<u64>,
}

/// Returns the 64-bit number that consists of a low and a high 32-bit word.
fn wide([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

impl StepSummary {
    pub(super) fn new(
        results: &CaromResults,
        two_sets: bool,
        sphere_capacity: u64,
        stages: Vec<(&'static str, Duration)>,
    ) -> Self {
        let required = RequiredCapacity {
            spheres: results.spheres_needed.into(),
            segments: wide(results.segments),
            pairs: wide(results.found),
            segment: results.segment,
        };
        let status = Status::from_bits_retain(results.status);
        let too_many_spheres = status.contains(Status::TOO_MANY_SPHERES);
        let fit = required.spheres <= sphere_capacity;
        let too_small = status.intersects(Status::TRUNCATED | Status::TOO_MANY_SEGMENTS)
            || too_many_spheres && !fit;
        let listed = results.invalid.min(results.invalid_index.len() as u32) as usize;
        Self {
            status,
            found: wide(results.found),
            pairs: results.pairs.into(),
            spheres: results.spheres.into(),
            second_set_start: two_sets.then_some(results.b_offset.into()),
            invalid: results.invalid.into(),
            invalid_spheres: results.invalid_index[..listed].to_vec(),
            proxies: results.proxies.into(),
            levels: results.levels,
            candidates: wide(results.candidates),
            segments: wide(results.segments),
            sorted: results.sorted.into(),
            began: results.began.into(),
            lasted: results.lasted.into(),
            ended: results.ended.into(),
            stages,
            required: too_small.then_some(required),
            past_at_most: (too_many_spheres && fit).then_some(required.spheres),
        }
    }

    /// Returns whether the list on the GPU contains every pair of the step.
    pub fn is_complete(&self) -> bool {
        !self.status.intersects(Status::INCOMPLETE)
    }

    /// Returns the capacity that the step needed, if the buffers were too small; otherwise `None`.
    ///
    /// If the number of spheres that the GPU reads from a buffer exceeds the permitted `at_most`,
    /// but not the capacity of carom's buffers, the step has [`Status::TOO_MANY_SPHERES`], and this
    /// method returns `None`.
    pub fn required_capacity(&self) -> Option<RequiredCapacity> {
        self.required
    }
}
