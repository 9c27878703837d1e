//! Reading results back some frames late: mapped by the application's own submit.

use std::fmt::{Debug, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use bytemuck::{Pod, Zeroable};

use super::buffers::{CaromCollision, CaromResults};
use super::pipeline::Shared;
use super::scoped;
use super::status::{
    INCOMPLETE, TOO_CROWDED, TOO_MANY_SEGMENTS, TOO_MANY_SPHERES, TRUNCATED, UNFINISHED,
};
use crate::exact::{Decided, GRAZING, Reported, decide};
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

/// What a [`Ticket`] has.
#[derive(Debug)]
pub enum Taken<T> {
    /// Nothing yet: the device has not come so far, or nobody has polled it since.
    /// Ask this ticket again.
    Pending(Ticket<T>),
    /// All of it.
    Ready(T),
    /// The list is not whole: this is what it needed. When the buffers have as much
    /// room, only the readback was too small, which goes by the last count that was
    /// read; the next one has room.
    Truncated(Needed),
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
    /// Whether float32 cannot tell if the two touch.
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

/// A pair with what the two spheres were: twin of `shaders/gather.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct Gathered {
    a: u32,
    b_and_grazing: u32,
    /// Centre, radius and velocity.
    values: [[f32; 7]; 2],
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

// The states of a staging buffer.
const FREE: u8 = 0;
/// In use by the device.
const BUSY: u8 = 1;
/// Ready to be read.
const MAPPED: u8 = 2;
/// Its encoder was dropped.
const NEVER: u8 = 3;
/// It could not be mapped.
const FAILED: u8 = 4;
/// In use by the device, and nobody waits for it.
const ABANDONED: u8 = 5;

struct Slot {
    buffer: wgpu::Buffer,
    state: AtomicU8,
    /// The step that was last to be copied here.
    serial: AtomicU32,
}

impl Slot {
    fn unmap(&self, shared: &Shared) {
        // On a device that is lost this may be refused.
        let unmapped = scoped(&shared.device, || {
            self.buffer.unmap();
            Ok(())
        });
        self.state
            .store(if unmapped.is_ok() { FREE } else { FAILED }, SeqCst);
    }

    /// From [`BUSY`] to what came of it.
    fn arrive(&self, shared: &Shared, at: u8) {
        if self
            .state
            .compare_exchange(BUSY, at, SeqCst, SeqCst)
            .is_ok()
        {
            return;
        }
        // Abandoned.
        match at {
            MAPPED => self.unmap(shared),
            FAILED => self.state.store(FAILED, SeqCst),
            _ => self.state.store(FREE, SeqCst),
        }
    }
}

/// Staging buffers, one for each readback under way.
pub(super) struct Staging {
    slots: Vec<Arc<Slot>>,
    /// How many there may be.
    most: u32,
    /// Pairs found in the latest step that was read, or [`UNKNOWN`].
    known: Arc<AtomicU64>,
}

const UNKNOWN: u64 = u64::MAX;

/// Tells the slot what came of the submit, or that its encoder was dropped.
struct Arrival {
    shared: Arc<Shared>,
    slot: Arc<Slot>,
    at: u8,
}

impl Arrival {
    fn mapped(mut self, well: bool) {
        if !well {
            self.shared.mapping_failed();
        }
        self.at = if well { MAPPED } else { FAILED };
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        self.slot.arrive(&self.shared, self.at);
    }
}

/// Reading of a buffer, and its size in bytes.
pub(super) type Part<'a> = (&'a wgpu::Buffer, u64);

impl Staging {
    pub(super) fn new(most: u32) -> Self {
        Self {
            slots: Vec::new(),
            most,
            known: Arc::new(AtomicU64::new(UNKNOWN)),
        }
    }

    /// Pairs found in the latest step that was read.
    pub(super) fn known(&self) -> Option<u64> {
        Some(self.known.load(SeqCst)).filter(|&known| known != UNKNOWN)
    }

    /// Copies parts of buffers for a ticket.
    pub(super) fn read<T>(
        &mut self,
        shared: &Arc<Shared>,
        encoder: &mut wgpu::CommandEncoder,
        parts: &[Part<'_>],
        recorded: Recorded,
        decode: fn(Read) -> Result<Option<T>, Error>,
    ) -> Result<Ticket<T>, Error> {
        let size = parts.iter().map(|&(_, size)| size).sum::<u64>();
        let idle = |slot: &Slot| matches!(slot.state.load(SeqCst), FREE | FAILED);
        // Not what stands there of the same step, should this submit fail.
        let fits = |slot: &Slot| {
            slot.state.load(SeqCst) == FREE
                && slot.buffer.size() >= size
                && slot.serial.load(SeqCst) != recorded.serial
        };
        let number = (self.slots.iter().position(|slot| fits(slot)))
            .or_else(|| self.slots.iter().position(|slot| idle(slot)))
            .unwrap_or(self.slots.len());
        if number >= self.most as usize {
            return Err(Error::TooManyInFlight {
                what: "readbacks",
                limit: self.most,
            });
        }
        if !self.slots.get(number).is_some_and(|slot| fits(slot)) {
            let buffer = scoped(&shared.device, || {
                // A buffer made on a lost device would be complained of at the submit.
                shared.probe()?;
                Ok(shared.device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("carom readback"),
                    size,
                    usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                    mapped_at_creation: false,
                }))
            })?;
            let slot = Arc::new(Slot {
                buffer,
                state: AtomicU8::new(FREE),
                serial: AtomicU32::new(0),
            });
            match self.slots.get_mut(number) {
                Some(old) => *old = slot,
                None => self.slots.push(slot),
            }
        }
        let slot = self.slots[number].clone();
        slot.state.store(BUSY, SeqCst);
        slot.serial.store(recorded.serial, SeqCst);
        let mut offset = 0;
        for &(buffer, size) in parts {
            encoder.copy_buffer_to_buffer(buffer, 0, &slot.buffer, offset, size);
            offset += size;
        }
        let arrival = Arrival {
            shared: shared.clone(),
            slot: slot.clone(),
            at: NEVER,
        };
        encoder.map_buffer_on_submit(&slot.buffer, wgpu::MapMode::Read, .., move |mapped| {
            arrival.mapped(mapped.is_ok());
        });
        Ok(Ticket {
            shared: shared.clone(),
            slot,
            size,
            recorded,
            known: self.known.clone(),
            decode,
        })
    }
}

/// The results of one step, when the device is through with it: the application's
/// submit maps them, and its polling (each later submit polls, too) makes them
/// arrive. An application that keeps two frames in flight has them two frames late.
///
/// Dropping it is safe.
pub struct Ticket<T> {
    shared: Arc<Shared>,
    slot: Arc<Slot>,
    /// Bytes that were copied; the buffer may be longer.
    size: u64,
    recorded: Recorded,
    /// Pairs found in the latest step read.
    known: Arc<AtomicU64>,
    decode: fn(Read) -> Result<Option<T>, Error>,
}

impl<T> Debug for Ticket<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ticket")
            .field("step", &self.recorded.serial)
            .finish_non_exhaustive()
    }
}

impl<T> Drop for Ticket<T> {
    fn drop(&mut self) {
        let state = &self.slot.state;
        match state.compare_exchange(BUSY, ABANDONED, SeqCst, SeqCst) {
            Err(MAPPED) => self.slot.unmap(&self.shared),
            Err(NEVER) => state.store(FREE, SeqCst),
            Ok(_) | Err(_) => {}
        }
    }
}

impl<T> Ticket<T> {
    /// The results, if they are there. Never blocks, and never polls.
    ///
    /// # Errors
    /// [`Error::NotSubmitted`] if the recording's encoder was dropped or its submit
    /// failed, [`Error::DeviceLost`], [`Error::TooManyCandidates`] for a world too
    /// crowded; [`Error::OutOfMemory`].
    pub fn try_take(self) -> Result<Taken<T>, Error> {
        match self.slot.state.load(SeqCst) {
            BUSY => return Ok(Taken::Pending(self)),
            NEVER => return Err(Error::NotSubmitted),
            MAPPED => {}
            _ => return Err(Error::DeviceLost),
        }
        let read = {
            let mapped = self
                .slot
                .buffer
                .get_mapped_range(..self.size)
                .map_err(|_| Error::DeviceLost)?;
            Read::new(&mapped, &self.recorded)?
        };
        if read.results.serial != self.recorded.serial {
            return Err(Error::NotSubmitted);
        }
        let counts = read.counts.clone();
        if counts.status & INCOMPLETE & !TRUNCATED == 0 {
            self.known.store(counts.found, SeqCst);
        }
        let decode = self.decode;
        // The buffer is free from here on.
        drop(self);
        Ok(match decode(read)? {
            Some(value) => Taken::Ready(value),
            None => Taken::Truncated(counts.needed.unwrap_or(Needed {
                spheres: counts.spheres,
                segments: counts.segments,
                pairs: counts.found,
                segment: 0.0,
            })),
        })
    }
}

/// What was read, as it came.
pub(super) struct Read {
    results: CaromResults,
    counts: Counts,
    /// What stands behind the counts.
    list: Vec<u8>,
    recorded: Recorded,
}

fn wide([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Durations of stages from two ticks each.
pub(super) fn durations(
    stages: &[&'static str],
    ticks: &[u64],
    period: f32,
) -> Vec<(&'static str, Duration)> {
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
    pub(super) fn new(results: &CaromResults, stages: Vec<(&'static str, Duration)>) -> Self {
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
            first_set: results.split.into(),
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
    fn new(mapped: &[u8], recorded: &Recorded) -> Result<Self, Error> {
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
        let mut copied = crate::error::allocate(list.len(), "the pairs read back")?;
        copied.extend_from_slice(list);
        Ok(Self {
            counts: Counts::new(&results, stages),
            results,
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
        let mut pairs = crate::error::allocate(found as usize, "the pairs read back")?;
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
        let reported = gathered
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
        let Decided {
            mut pairs,
            grazing,
            by_integers,
        } = decide(spheres, 0, dt, reported)?;
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
            grazing,
            grazing_by_integers: by_integers,
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
