//! The numbers of a step: what was found, and what there was no room for.

use std::time::Duration;

use super::shader::layout::CaromResults;
use super::status::Status;

/// The room that a step needs. [`CollisionBuffers::grow`](super::CollisionBuffers::grow)
/// makes it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RequiredCapacity {
    /// Spheres, of both sets if there are two.
    pub spheres: u64,
    /// Time segments after each sphere's first.
    pub segments: u64,
    /// Pairs; 0 when the step did not get as far as counting them.
    pub pairs: u64,
    /// The length of the segments, in the units of the step.
    pub(super) segment: f32,
}

impl RequiredCapacity {
    /// Room for so many spheres, of both sets if there are two.
    pub fn for_spheres(spheres: u64) -> Self {
        Self {
            spheres,
            segments: 0,
            pairs: 0,
            segment: 0.0,
        }
    }
}

/// The numbers of a step.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StepSummary {
    /// Whether pairs may be missing, and why; whether spheres were set aside.
    pub status: Status,
    /// Pairs that were found. One pair may be counted several times: see
    /// [the module](super).
    pub found: u64,
    /// Pairs in the list on the GPU: fewer than `found` when the list is too small.
    pub pairs: u64,
    /// Spheres, of both sets if there are two. With two sets of which one is empty
    /// nothing is searched, and this is 0.
    pub spheres: u64,
    /// With two sets, the number of spheres in the first one: the row of the second
    /// set's first sphere. `None` with one set; 0 where one of two sets is empty.
    pub second_set_start: Option<u64>,
    /// Spheres that were set aside because one of their values is invalid.
    pub invalid: u64,
    /// Indices of some of the invalid spheres, at most 32. Indices of the second set
    /// continue those of the first.
    pub invalid_spheres: Vec<u32>,
    /// Entries in the grids.
    pub proxies: u64,
    /// Grids in use.
    pub levels: u32,
    /// Pairs that were tested.
    pub candidates: u64,
    /// Time segments after each sphere's first.
    pub segments: u64,
    /// Pairs in the sorted list, each once.
    pub sorted: u64,
    /// Pairs that began with this step.
    pub began: u64,
    /// Pairs that were in the list before, too.
    pub lasted: u64,
    /// Pairs that are no longer in the list.
    pub ended: u64,
    /// The time of each stage on the device, in order; empty without
    /// [`BufferOptions::timestamp_period`](super::BufferOptions::timestamp_period).
    pub stages: Vec<(&'static str, Duration)>,
    required: Option<RequiredCapacity>,
    /// The number of spheres, when there is room for all, but a count in a buffer is more
    /// than its `at_most`.
    pub(super) past_at_most: Option<u64>,
}

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

    /// Whether every pair is in the list on the GPU.
    pub fn is_complete(&self) -> bool {
        !self.status.intersects(Status::INCOMPLETE)
    }

    /// The room that the step needed, when there was too little. A count of spheres that is
    /// more than its `at_most` is no lack of room: [`Status::TOO_MANY_SPHERES`] tells.
    pub fn required_capacity(&self) -> Option<RequiredCapacity> {
        self.required
    }
}
