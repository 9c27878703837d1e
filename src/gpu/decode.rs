//! Decodes the bytes that were read back from the GPU into the results of a step.

use std::time::Duration;

use bytemuck::Pod;

use super::pair_list::{ExactStep, PairList, RawCollision, RawStep, unpacked_image};
use super::shader::layout::{CaromCollision, CaromResults, Gathered};
use super::status::Status;
use super::summary::{RequiredCapacity, StepSummary};
use crate::exact::{GRAZING, Reported, ReportedPair};
use crate::shared::sets::Sets;
use crate::{ActiveBackend, Collision, Collisions, Domain, Error, Sphere, Statistics};

#[derive(Clone, Debug)]
pub(super) struct Recorded {
    /// Serial number of the step. If the results read back have another number, the submission of
    /// the step or of its readback has failed.
    pub(super) serial: u32,
    /// Length of the step in the unit of time of the velocities, or 1 if previous centres replace
    /// the velocities.
    pub(super) dt: f32,
    /// Factor that converts a computed time of impact in [0, `dt`] to the application's unit of
    /// time.
    pub(super) times: f32,
    pub(super) two_sets: bool,
    /// Whether the step is a search for neighbours.
    pub(super) for_neighbors: bool,
    pub(super) domain: Domain,
    /// Largest allowed distance, in cells, between a sphere and the periodic cell. `None` if the
    /// buffers are for open space only.
    pub(super) most_cells: Option<i32>,
    pub(super) stages: Vec<&'static str>,
    pub(super) max_candidates: u64,
    /// Period of the GPU timestamps, in nanoseconds per tick. 0 without timestamps.
    pub(super) period: f32,
    pub(super) spheres: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ReadRoom {
    pub(super) pairs: u64,
    pub(super) most: u64,
}

pub(super) struct Read {
    pub(super) serial: u32,
    pub(super) summary: StepSummary,
    list: Vec<u8>,
    recorded: Recorded,
    room: ReadRoom,
}

/// Returns the name and the duration of each stage. `ticks` has two timestamps per stage (start and
/// end), in ticks of `period` nanoseconds.
fn durations(stages: &[&'static str], ticks: &[u64], period: f32) -> Vec<(&'static str, Duration)> {
    let stage = |(&name, ticks): (&&'static str, &[u64])| {
        // On some devices a stage's end timestamp can precede its start timestamp. The duration is
        // then 0.
        let ticks = ticks[1].saturating_sub(ticks[0]);
        let nanoseconds = ticks as f64 * f64::from(period);
        (name, Duration::from_nanos(nanoseconds as u64))
    };
    stages
        .iter()
        .zip(ticks.chunks_exact(2))
        .map(stage)
        .collect()
}

impl Read {
    pub(super) fn new(mapped: &[u8], recorded: &Recorded, room: ReadRoom) -> Result<Self, Error> {
        let (results, rest) = mapped.split_at(size_of::<CaromResults>());
        let ticks = if recorded.period > 0.0 {
            16 * recorded.stages.len()
        } else {
            0
        };
        let (ticks, list) = rest.split_at(ticks);
        let results: CaromResults = bytemuck::pod_read_unaligned(results);
        let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(ticks);
        let stages = durations(&recorded.stages, &ticks, recorded.period);
        let mut copied = crate::memory::allocate(list.len(), "the pairs read back")?;
        copied.extend_from_slice(list);
        let summary = StepSummary::new(&results, recorded.two_sets, recorded.spheres, stages);
        Ok(Self {
            serial: results.serial,
            summary: if recorded.for_neighbors {
                summary.with_neighbors(&results)
            } else {
                summary
            },
            list: copied,
            recorded: recorded.clone(),
            room,
        })
    }

    fn check(&self) -> Result<(), Error> {
        let StepSummary {
            status, candidates, ..
        } = self.summary;
        if status.contains(Status::TOO_CROWDED) {
            return Err(Error::TooManyCandidates {
                needed: candidates,
                limit: self.recorded.max_candidates,
            });
        }
        if status.contains(Status::UNFINISHED) {
            return Err(unfinished());
        }
        if let Some(error) = out_of_range(&self.summary, self.recorded.most_cells) {
            return Err(error);
        }
        if let Some(counted) = self.summary.past_at_most {
            return Err(Error::SourceBuffer {
                what: "count",
                problem: format!(
                    "holds a number larger than its `at_most` ({counted} spheres in all sets \
                     together); raise `at_most`"
                ),
                source: None,
            });
        }
        Ok(())
    }

    /// Returns the images (periodic copies) of the second spheres of the first `pairs` pairs. In
    /// the bytes read back, they come after the pairs. Empty if the buffers are for open space
    /// only.
    fn images<P>(&self, pairs: usize) -> Result<Vec<[i32; 3]>, Error> {
        if self.recorded.most_cells.is_none() {
            return Ok(Vec::new());
        }
        let mut images = crate::memory::allocate(pairs, "the images of the pairs")?;
        let begin = self.room.pairs as usize * size_of::<P>();
        let words = self.list.get(begin..).unwrap_or_default().chunks_exact(4);
        let words = words.map(bytemuck::pod_read_unaligned::<u32>);
        images.extend(words.take(pairs).map(unpacked_image));
        Ok(images)
    }

    /// Returns the pairs that were read back if they are complete, otherwise the capacity that the
    /// buffers need.
    fn pairs<P: Pod>(&self) -> Result<PairList<Vec<P>>, Error> {
        self.check()?;
        if let Some(required) = self.summary.required_capacity() {
            return Ok(PairList::Truncated(required));
        }
        let StepSummary {
            found,
            spheres,
            segments,
            ..
        } = self.summary;
        let ReadRoom { pairs: room, most } = self.room;
        if found > most {
            return Err(Error::DeviceLimit {
                what: "reading all pairs back",
                limit: "max_buffer_size",
                needed: found * size_of::<P>() as u64,
                available: most * size_of::<P>() as u64,
            });
        }
        if found > room {
            return Ok(PairList::Truncated(RequiredCapacity {
                spheres,
                segments,
                pairs: found,
                images: self.summary.images,
                segment: 0.0,
            }));
        }
        let mut pairs = crate::memory::allocate(found as usize, "the pairs read back")?;
        let records = self.list.chunks_exact(size_of::<P>());
        // The bytes read back may not be aligned for a pair, so each pair is read without
        // alignment.
        pairs.extend(
            records
                .take(found as usize)
                .map(bytemuck::pod_read_unaligned::<P>),
        );
        Ok(PairList::Complete(pairs))
    }

    pub(super) fn summary(self) -> Result<StepSummary, Error> {
        Ok(self.summary)
    }

    pub(super) fn raw(self) -> Result<PairList<RawStep>, Error> {
        Ok(match self.pairs::<CaromCollision>()? {
            PairList::Complete(pairs) => PairList::Complete(RawStep {
                images: self.images::<CaromCollision>(pairs.len())?,
                pairs: pairs.into_iter().map(RawCollision::from).collect(),
                summary: self.summary,
            }),
            PairList::Truncated(required) => PairList::Truncated(required),
        })
    }

    pub(super) fn exact(self) -> Result<PairList<ExactStep>, Error> {
        Ok(match self.pairs::<Gathered>()? {
            PairList::Complete(gathered) => PairList::Complete(self.decided(gathered)?),
            PairList::Truncated(required) => PairList::Truncated(required),
        })
    }

    fn decided(self, mut gathered: Vec<Gathered>) -> Result<ExactStep, Error> {
        let images = self.images::<Gathered>(gathered.len())?;
        let key = |pair: &Gathered| (pair.a, pair.b_and_grazing & !GRAZING);
        let reported = gathered.iter().map(|pair| ReportedPair {
            a: pair.a,
            b: pair.b_and_grazing,
        });
        let mut reported = Reported::new(reported.collect(), &images)?;
        gathered.sort_unstable_by_key(key);
        let spheres = |a: u32, b: u32| {
            let at = gathered.binary_search_by_key(&(a, b), key).ok()?;
            Some(gathered.get(at)?.values.map(|values| Sphere {
                center: [values[0], values[1], values[2]],
                radius: values[3],
                velocity: [values[4], values[5], values[6]],
                groups: 0,
            }))
        };
        let Recorded {
            dt, times, domain, ..
        } = self.recorded;
        let (mut pairs, mut images) = (Vec::new(), Vec::new());
        // With `Sets::One`, the index b of each pair is not changed. This is right for two sets of
        // spheres too, because the GPU already counts b from the start of the second set.
        let step = (Sets::One, &domain, dt);
        let grazing = reported.decide(spheres, step, &mut pairs, &mut images)?;
        if domain.is_open() {
            images.clear();
        }
        if times != 1.0 {
            let scale = |pair: &mut Collision| {
                // Adding 0.0 turns a time of −0 into 0. The time is −0 if the length of the step is
                // −0.
                pair.toi = (f64::from(pair.toi) * f64::from(times) + 0.0) as f32;
            };
            pairs.iter_mut().for_each(scale);
        }
        let summary = self.summary;
        let sets = match summary.second_set_start {
            None => Sets::One,
            Some(first) => Sets::Two {
                first: first as usize,
            },
        };
        let statistics = Statistics {
            spheres: summary.spheres,
            proxies: summary.proxies,
            levels: summary.levels,
            candidates: summary.candidates,
            pairs: pairs.len() as u64,
            grazing: grazing.all,
            grazing_by_integers: grazing.by_integers,
            backend: ActiveBackend::Gpu,
            reason: "recorded by the application".to_owned(),
            stages: summary.stages.clone(),
            ..Statistics::default()
        };
        Ok(ExactStep {
            collisions: Collisions::new(pairs, images, summary.spheres as usize, sets, statistics),
            summary,
        })
    }
}

/// Returns the error for a sphere that is too far from the periodic cell, or has too many images.
pub(super) fn out_of_range(summary: &StepSummary, most_cells: Option<i32>) -> Option<Error> {
    let index = summary.out_of_range? as usize;
    let (set, index) = match summary.second_set_start.map(|first| first as usize) {
        None => (None, index),
        Some(first) if index < first => (Some(0), index),
        Some(first) => (Some(1), index - first),
    };
    Some(Error::ImageOutOfRange {
        index,
        set,
        limit: most_cells.unwrap_or(0),
    })
}

pub(super) fn unfinished() -> Error {
    Error::device(
        "its driver ends loops early, and some spheres of this world have too many neighbours for \
         one loop"
            .to_owned(),
    )
}
