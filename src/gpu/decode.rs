//! From the bytes of a readback to the step that they are about.

use std::time::Duration;

use bytemuck::Pod;

use super::pair_list::{ExactStep, PairList, RawCollision, RawStep};
use super::shader::layout::{CaromCollision, CaromResults, Gathered};
use super::status::Status;
use super::summary::{RequiredCapacity, StepSummary};
use crate::exact::{GRAZING, ReportedPair, decide_reported_with};
use crate::shared::sets::Sets;
use crate::{ActiveBackend, Collision, Collisions, Error, Sphere, Statistics};

/// The facts of a recording that its readbacks need.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub(super) serial: u32,
    /// The length of the step for which the spheres' velocities are.
    pub(super) dt: f32,
    /// The factor from times in that step to times of impact.
    pub(super) times: f32,
    pub(super) two_sets: bool,
    pub(super) stages: Vec<&'static str>,
    pub(super) max_candidates: u64,
    /// Nanoseconds a tick; 0 without timestamps.
    pub(super) period: f32,
    /// Spheres that the buffers hold.
    pub(super) spheres: u64,
}

/// Pairs that a readback has room for.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadRoom {
    pub(super) pairs: u64,
    /// The most that any readback on this device can have room for.
    pub(super) most: u64,
}

/// A readback as it came.
pub(super) struct Read {
    pub(super) serial: u32,
    pub(super) summary: StepSummary,
    /// The bytes after results and ticks.
    list: Vec<u8>,
    recorded: Recorded,
    room: ReadRoom,
}

/// Durations of stages from two ticks each.
fn durations(stages: &[&'static str], ticks: &[u64], period: f32) -> Vec<(&'static str, Duration)> {
    let stage = |(&name, ticks): (&&'static str, &[u64])| {
        // Some devices' clocks go backwards between passes.
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
        Ok(Self {
            serial: results.serial,
            summary: StepSummary::new(&results, recorded.two_sets, recorded.spheres, stages),
            list: copied,
            recorded: recorded.clone(),
            room,
        })
    }

    /// An error when no more room would give a list.
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
        if let Some(counted) = self.summary.past_at_most {
            return Err(Error::SourceBuffer {
                what: "count",
                problem: format!(
                    "is more than its `at_most`, with {counted} spheres in all sets; raise \
                     `at_most`"
                ),
                source: None,
            });
        }
        Ok(())
    }

    /// The pairs if they are all there, or the room they need.
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
                segment: 0.0,
            }));
        }
        let mut pairs = crate::memory::allocate(found as usize, "the pairs read back")?;
        let records = self.list.chunks_exact(size_of::<P>());
        // Mapped bytes promise no alignment.
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

    /// Decides every gathered pair exactly.
    fn decided(self, mut gathered: Vec<Gathered>) -> Result<ExactStep, Error> {
        let key = |pair: &Gathered| (pair.a, pair.b_and_grazing & !GRAZING);
        gathered.sort_unstable_by_key(key);
        let mut reported = gathered
            .iter()
            .map(
                |&Gathered {
                     a, b_and_grazing, ..
                 }| ReportedPair {
                    a,
                    b: b_and_grazing,
                },
            )
            .collect();
        let spheres = |a: u32, b: u32| {
            let at = gathered.binary_search_by_key(&(a, b), key).ok()?;
            Some(gathered.get(at)?.values.map(|values| Sphere {
                center: [values[0], values[1], values[2]],
                radius: values[3],
                velocity: [values[4], values[5], values[6]],
                groups: 0,
            }))
        };
        let Recorded { dt, times, .. } = self.recorded;
        let mut pairs = Vec::new();
        // The indices of the gathered pairs count in their own sets already.
        let grazing = decide_reported_with(spheres, Sets::One, dt, &mut reported, &mut pairs)?;
        if times != 1.0 {
            let scale = |pair: &mut Collision| {
                // A step of −0 has times of 0, too.
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
            collisions: Collisions::new(pairs, summary.spheres as usize, sets, statistics),
            summary,
        })
    }
}

/// The error for a driver that ends loops before they are done.
pub(super) fn unfinished() -> Error {
    Error::device(
        "its driver ends loops before they are done: some spheres of this world have more \
         neighbours than it can go through"
            .to_owned(),
    )
}
