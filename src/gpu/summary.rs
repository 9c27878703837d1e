//! The summary of a step: its counts, its status, and the capacity that it needed.

use std::time::Duration;

use super::shader::layout::CaromResults;
use super::status::Status;

/// The capacity that a step needs. [`CollisionBuffers::grow`](super::CollisionBuffers::grow) makes
/// buffers of at least this capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RequiredCapacity {
    /// Number of spheres, in both sets together if there are two.
    pub spheres: u64,
    /// Number of time segments besides each sphere's first. A sphere that moves far is split in
    /// time into segments; see [`BufferOptions::segments`](super::BufferOptions::segments).
    pub segments: u64,
    /// Number of pairs; 0 if the step ended before it counted them.
    pub pairs: u64,
    /// Length of the time segments of the step (the distance that a sphere moves in one segment),
    /// in the units of the grids.
    pub(super) segment: f32,
}

impl RequiredCapacity {
    /// Returns the capacity for `spheres` spheres, in both sets together if there are two. The
    /// returned numbers of segments and pairs are 0.
    pub fn for_spheres(spheres: u64) -> Self {
        Self {
            spheres,
            segments: 0,
            pairs: 0,
            segment: 0.0,
        }
    }
}

/// The counts, the status and the stage times of a step.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StepSummary {
    /// Status bits: whether and why pairs may be missing, and whether there are invalid spheres.
    pub status: Status,
    /// Number of pairs that were found. Some pairs may be counted several times: see
    /// [the module](super).
    pub found: u64,
    /// Number of pairs in the list on the GPU. It is less than `found` if the list is too small.
    pub pairs: u64,
    /// Number of spheres, in both sets together if there are two. If one of two sets is empty, no
    /// pairs are searched for, and this number is 0.
    pub spheres: u64,
    /// With two sets, the number of spheres in the first set; 0 if one of the two sets is empty. It
    /// is also the index of the second set's first sphere in the buffers that have an element for
    /// each sphere of both sets. `None` with one set.
    pub second_set_start: Option<u64>,
    /// Number of spheres that were left out because one of their values is invalid.
    pub invalid: u64,
    /// Indices of some of the invalid spheres, at most 32. With two sets, the indices of the second
    /// set continue those of the first.
    pub invalid_spheres: Vec<u32>,
    /// Number of entries in the grids (proxies): one for each sphere that is not split in time, and
    /// one for each time segment of a sphere that is split. Invalid spheres have no entries.
    pub proxies: u64,
    /// Number of grids in use.
    pub levels: u32,
    /// Number of candidates: pairs of grid entries that were tested. With [`Status::TOO_CROWDED`],
    /// the number of candidates that would have had to be tested.
    pub candidates: u64,
    /// Number of time segments besides each sphere's first. A sphere that moves far is split in
    /// time into segments; see [`BufferOptions::segments`](super::BufferOptions::segments).
    pub segments: u64,
    /// Number of pairs in the sorted list, which has each pair once; 0 if the step computes no
    /// sorted list.
    pub sorted: u64,
    /// Number of pairs that began with this step: they were not in the list of the last complete
    /// step. This count, `lasted` and `ended` are 0 if the step computes no changes or is not
    /// complete.
    pub began: u64,
    /// Number of pairs of this step that were in the list of the last complete step, too.
    pub lasted: u64,
    /// Number of pairs of the last complete step that are not in the list of this step.
    pub ended: u64,
    /// Time of each stage on the device, in the order of the stages. Empty if
    /// [`BufferOptions::timestamp_period`](super::BufferOptions::timestamp_period) is not set or
    /// the device has no timestamps.
    pub stages: Vec<(&'static str, Duration)>,
    required: Option<RequiredCapacity>,
    /// The number of spheres, if a count in a buffer exceeds its `at_most` but the buffers have
    /// room for all spheres; otherwise `None`.
    pub(super) past_at_most: Option<u64>,
}

/// Returns the 64-bit number with these low and high words.
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

    /// Returns whether every pair is in the list on the GPU.
    pub fn is_complete(&self) -> bool {
        !self.status.intersects(Status::INCOMPLETE)
    }

    /// Returns the capacity that the step needed, if the buffers were too small.
    ///
    /// If a count of spheres exceeds its `at_most` but not the capacity of the buffers, the buffers
    /// are not too small. Such a step has [`Status::TOO_MANY_SPHERES`], and this method returns
    /// `None`.
    pub fn required_capacity(&self) -> Option<RequiredCapacity> {
        self.required
    }
}
