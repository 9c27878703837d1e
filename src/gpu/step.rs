//! What a step came to, as the host gets it: counts, the list as the GPU has it, or
//! the list decided exactly.

use std::time::Duration;

use bytemuck::Pod;

use super::shader::layout::{CaromCollision, CaromResults, Gathered};
use super::status::{
    INCOMPLETE, TOO_CROWDED, TOO_MANY_SEGMENTS, TOO_MANY_SPHERES, TRUNCATED, UNFINISHED,
};
use crate::exact::{GRAZING, Reported, decide};
use crate::shared::sets::Sets;
use crate::{Backend, Collision, Collisions, Error, Sphere, Statistics};

/// Room that a step needed. [`CollisionBuffers::grow`](super::CollisionBuffers::grow)
/// makes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Needed {
    /// Spheres.
    pub spheres: u64,
    /// Time segments after each sphere's first.
    pub segments: u64,
    /// Pairs; 0 when the step did not come to count them.
    pub pairs: u64,
    /// How long the segments were, in the units of the step.
    pub(super) segment: f32,
}

impl Needed {
    /// Room for so many spheres, of both sets if there are two.
    pub fn spheres(spheres: u64) -> Self {
        Self {
            spheres,
            segments: 0,
            pairs: 0,
            segment: 0.0,
        }
    }
}

/// What a step came to, in numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// 0, or some of the bits in [`status`](super::status).
    pub status: u32,
    /// Pairs that were found. Some of them may be one pair, several times: see
    /// [the module](super).
    pub found: u64,
    /// Pairs that stand in the list on the GPU: less than `found` when it is too
    /// small.
    pub pairs: u64,
    /// Spheres, and how many of those are in the first of two sets; 0 for one set.
    pub spheres: u64,
    /// Spheres in the first of two sets; 0 for one set.
    pub first_set: u64,
    /// Spheres that were set aside because a value of theirs is one that carom cannot
    /// work with.
    pub invalid: u64,
    /// Indices of some of them, no more than 32; the second set counts on from the
    /// first.
    pub invalid_spheres: Vec<u32>,
    /// Entries in the grids.
    pub proxies: u64,
    /// Grids in use.
    pub levels: u32,
    /// Pairs that were tested.
    pub candidates: u64,
    /// Time segments after each sphere's first.
    pub segments: u64,
    /// Pairs in the sorted list, without repeats.
    pub sorted: u64,
    /// Pairs that began with this step.
    pub began: u64,
    /// Pairs that there were before, too.
    pub lasted: u64,
    /// Pairs that there are no longer.
    pub ended: u64,
    /// Time of each stage on the device, in order; empty without
    /// [`BufferOptions::timestamp_period`](super::BufferOptions::timestamp_period).
    pub stages: Vec<(&'static str, Duration)>,
    /// What was needed.
    needed: Option<Needed>,
}

impl Counts {
    /// Whether every pair is in the list on the GPU.
    pub fn is_complete(&self) -> bool {
        self.status & INCOMPLETE == 0
    }

    /// What there was no room for; `None` if there was.
    pub fn needed(&self) -> Option<Needed> {
        self.needed
    }
}

/// A pair as the GPU has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RawCollision {
    /// Index of the smaller sphere, or of that in the first set.
    pub a: u32,
    /// Index of the other.
    pub b: u32,
    /// Time of impact in float32: see [the module](super).
    pub toi: f32,
    /// Depth in float32.
    pub depth: f32,
    /// Whether float32 cannot tell if the two touch, or to which time segments of a
    /// fast sphere they belong.
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
pub struct RawStep {
    /// The pairs, in any order.
    pub pairs: Vec<RawCollision>,
    /// What the step came to.
    pub counts: Counts,
}

/// A step, decided exactly.
#[derive(Clone, Debug)]
pub struct ExactStep {
    /// The list, as [`Detector::detect`](crate::Detector::detect) gives it, for all
    /// spheres but those set aside.
    pub collisions: Collisions,
    /// What the step came to on the GPU.
    pub counts: Counts,
}

/// What a recording was about, as far as a readback has to know.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub(super) serial: u32,
    /// The step that the spheres' velocities are for.
    pub(super) dt: f32,
    /// What times of impact are to be multiplied by.
    pub(super) times: f32,
    pub(super) stages: Vec<&'static str>,
    pub(super) max_candidates: u64,
    /// Nanoseconds a tick.
    pub(super) period: f32,
    /// Pairs that the readback has room for, and that one can have.
    pub(super) room: [u64; 2],
    /// Spheres that the buffers hold.
    pub(super) spheres: u64,
}

/// What was read, as it came.
pub(super) struct Read {
    pub(super) serial: u32,
    pub(super) counts: Counts,
    /// What stands behind the counts.
    list: Vec<u8>,
    recorded: Recorded,
}

fn wide([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
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

impl Counts {
    fn new(results: &CaromResults, stages: Vec<(&'static str, Duration)>) -> Self {
        let needed = Needed {
            spheres: results.spheres_needed.into(),
            segments: wide(results.segments),
            pairs: wide(results.found),
            segment: results.segment,
        };
        let small = results.status & (TRUNCATED | TOO_MANY_SEGMENTS | TOO_MANY_SPHERES) != 0;
        let listed = results.invalid.min(results.invalid_index.len() as u32) as usize;
        Self {
            status: results.status,
            found: wide(results.found),
            pairs: results.pairs.into(),
            spheres: results.spheres.into(),
            first_set: results.b_offset.into(),
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
            needed: small.then_some(needed),
        }
    }
}

impl Read {
    pub(super) fn new(mapped: &[u8], recorded: &Recorded) -> Result<Self, Error> {
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
            counts: Counts::new(&results, stages),
            list: copied,
            recorded: recorded.clone(),
        })
    }

    /// The pairs, if they are all there.
    fn list<P: Pod>(&self) -> Result<Option<Vec<P>>, Error> {
        let Counts {
            status,
            candidates: needed,
            found,
            ..
        } = self.counts;
        if status & TOO_CROWDED != 0 {
            return Err(Error::TooManyCandidates {
                needed,
                limit: self.recorded.max_candidates,
            });
        }
        if status & UNFINISHED != 0 {
            return Err(unfinished());
        }
        let Recorded {
            room: [room, most],
            spheres,
            ..
        } = self.recorded;
        let needed = self.counts.needed.map_or(0, |needed| needed.spheres);
        if status & TOO_MANY_SPHERES != 0 && needed <= spheres {
            return Err(Error::SourceBuffer {
                what: "count",
                problem: format!(
                    "says that there are {needed} spheres, which is more than its `at_most`; \
                     raise that"
                ),
            });
        }
        if self.counts.needed.is_none() && found > most {
            return Err(Error::DeviceLimit {
                what: "reading all pairs back",
                limit: "max_buffer_size",
                needed: found * size_of::<P>() as u64,
                available: most * size_of::<P>() as u64,
            });
        }
        if self.counts.needed.is_some() || found > room {
            return Ok(None);
        }
        let mut pairs = crate::memory::allocate(found as usize, "the pairs read back")?;
        let records = self.list.chunks_exact(size_of::<P>());
        // Mapped bytes promise no alignment.
        pairs.extend(
            records
                .take(found as usize)
                .map(bytemuck::pod_read_unaligned::<P>),
        );
        Ok(Some(pairs))
    }

    pub(super) fn counts(self) -> Result<Option<Counts>, Error> {
        Ok(Some(self.counts))
    }

    pub(super) fn raw(self) -> Result<Option<RawStep>, Error> {
        let pairs = self.list::<CaromCollision>()?;
        Ok(pairs.map(|pairs| RawStep {
            pairs: pairs.into_iter().map(RawCollision::from).collect(),
            counts: self.counts,
        }))
    }

    pub(super) fn exact(self) -> Result<Option<ExactStep>, Error> {
        let Some(mut gathered) = self.list::<Gathered>()? else {
            return Ok(None);
        };
        let key = |pair: &Gathered| (pair.a, pair.b_and_grazing & !GRAZING);
        gathered.sort_unstable_by_key(key);
        let mut reported = gathered
            .iter()
            .map(
                |&Gathered {
                     a, b_and_grazing, ..
                 }| Reported {
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
        let grazing = decide(spheres, Sets::One, dt, &mut reported, &mut pairs)?;
        if times != 1.0 {
            let late = |pair: &mut Collision| {
                pair.toi = (f64::from(pair.toi) * f64::from(times)) as f32;
            };
            pairs.iter_mut().for_each(late);
        }
        let counts = self.counts;
        let statistics = Statistics {
            spheres: counts.spheres,
            first_set: counts.first_set,
            proxies: counts.proxies,
            levels: counts.levels,
            candidates: counts.candidates,
            pairs: pairs.len() as u64,
            grazing: grazing.all,
            grazing_by_integers: grazing.by_integers,
            backend: Backend::Gpu,
            reason: "recorded by the application".to_owned(),
            stages: counts.stages.clone(),
            ..Statistics::default()
        };
        Ok(Some(ExactStep {
            collisions: Collisions { pairs, statistics },
            counts,
        }))
    }
}

/// The error for a driver that ends loops before they are done.
pub(super) fn unfinished() -> Error {
    Error::Device(
        "its driver ends loops before they are done: some spheres of this world have more \
         neighbours than it can go through"
            .to_owned(),
    )
}
