//! One world on the application's device: what it is recorded from, and into.

use std::sync::Arc;

use super::buffers::{Buffers, Capacity};
use super::dispatch::{Dispatch, workgroups};
use super::options::BufferOptions;
use super::pipeline::Shared;
use super::reductions::{Reductions, Wanted};
use super::scope::Scope;
use super::scoped;
use super::shader::constants::FLAG_WATCH;
use super::shader::layout::{CaromCollision, CaromResults, Gathered, Params};
use super::source::{Loading, Loads, Source};
use super::stages::Recording;
use super::step::{Counts, ExactStep, Needed, RawStep, Read, Recorded};
use super::ticket::{Staging, Ticket};
use super::upload::{Ring, Submitted};
use super::upload_layout::UploadLayout;
use crate::limits::{MOST_SPHERES, most_proxies};
use crate::shared::sets::Sets;
use crate::shared::units::Units;
use crate::validate::{check_dt, check_spheres};
use crate::{Error, MAX_MAGNITUDE, Sphere};

/// The buffers of one world on the application's device, and the recording of its
/// steps. Made by
/// [`CollisionPipeline::create_buffers`](super::CollisionPipeline::create_buffers).
pub struct CollisionBuffers {
    shared: Arc<Shared>,
    pub(super) options: BufferOptions,
    pub(super) buffers: Buffers,
    recording: Recording,
    pub(super) reductions: Reductions,
    /// Those before the buffers grew, for what they have kept of the last step; and
    /// the recording that takes it over, once there is one.
    outgrown: Option<(Reductions, Option<Submitted>)>,
    timing: Option<Timing>,
    uploads: Ring,
    loads: Loads,
    staging: Staging,
    gathering: Option<Gathering>,
    prepared: Option<Prepared>,
    recorded: Option<Recorded>,
    serial: u32,
    /// Segments are no shorter than this, in the units of the step.
    pub(super) shortest_segment: f32,
}

/// What goes by the capacity.
struct World {
    buffers: Buffers,
    recording: Recording,
    reductions: Reductions,
}

impl World {
    fn new(shared: &Shared, capacity: Capacity, wanted: Wanted) -> Result<Self, Error> {
        let buffers = Buffers::new(&shared.device, &shared.limits, capacity)?;
        let mut recording = Recording::new(shared.binder(), &shared.stages, &buffers)?;
        let mut reductions = Reductions::default();
        if wanted != Wanted::default() {
            let kernels = shared.reduce()?;
            let binder = shared.binder();
            let limits = &shared.limits;
            reductions =
                Reductions::new(binder, &shared.stages, kernels, &buffers, limits, wanted)?;
            recording.append(reductions.take_stages());
        }
        Ok(Self {
            buffers,
            recording,
            reductions,
        })
    }
}

struct Prepared {
    slot: usize,
    /// Spheres in the slot.
    uploaded: u64,
    loading: Option<Loading>,
    recorded: Recorded,
}

struct Timing {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    period: f32,
}

/// Where both spheres of each pair are written for the host.
struct Gathering {
    room: u64,
    buffer: wgpu::Buffer,
    dispatch: Dispatch,
}

/// More stages than there are.
const MOST_STAGES: u32 = 16;

/// Pairs that the first readback has room for, when nothing is known of how many
/// there are.
const FIRST_READ: u64 = 1 << 17;

impl std::fmt::Debug for CollisionBuffers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CollisionBuffers")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

fn timing(shared: &Shared, period: Option<f32>) -> Option<Timing> {
    let period = period.filter(|&period| {
        let features = shared.device.features();
        period > 0.0 && period.is_finite() && features.contains(wgpu::Features::TIMESTAMP_QUERY)
    })?;
    Some(Timing {
        queries: shared.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("carom stages"),
            ty: wgpu::QueryType::Timestamp,
            count: 2 * MOST_STAGES,
        }),
        resolved: shared.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("carom stages"),
            size: 16 * u64::from(MOST_STAGES),
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        }),
        period,
    })
}

/// A capacity for `needed`, with room to grow as far as the device has it: a
/// world that grows by a little each step is not to make new buffers each time.
fn with_room(needed: u64, most: u64) -> u64 {
    needed.max(needed.saturating_add(needed / 2).min(most))
}

impl CollisionBuffers {
    pub(super) fn new(
        shared: Arc<Shared>,
        mut options: BufferOptions,
        capacity: Capacity,
    ) -> Result<Self, Error> {
        for (what, capacity) in [
            ("spheres", options.spheres),
            ("recordings", options.recordings),
        ] {
            if capacity == 0 {
                return Err(Error::ZeroCapacity { what });
            }
        }
        if options.spheres as usize > MOST_SPHERES {
            return Err(Error::TooManySpheres {
                count: options.spheres as usize,
                limit: MOST_SPHERES,
            });
        }
        let (world, timing) = scoped(&shared.device, || {
            Ok((
                World::new(&shared, capacity, options.wanted())?,
                timing(&shared, options.timestamp_period),
            ))
        })?;
        let World {
            buffers,
            recording,
            reductions,
        } = world;
        options.set(capacity);
        let recordings = options.recordings;
        Ok(Self {
            shared,
            options,
            buffers,
            recording,
            reductions,
            outgrown: None,
            timing,
            uploads: Ring::default(),
            loads: Loads::default(),
            staging: Staging::new(recordings),
            gathering: None,
            prepared: None,
            recorded: None,
            serial: 0,
            shortest_segment: f32::MIN_POSITIVE,
        })
    }

    /// Says what the next recording is to be about: spheres, and the length of the
    /// step in the caller's unit of time. Spheres on the host are copied, and may be
    /// changed at once; buffers are read when the recording runs on the device.
    ///
    /// Buffers that are used for the first time, and the first spheres from the host,
    /// cost an allocation.
    ///
    /// # Errors
    /// [`Error::InvalidTimeStep`]; [`Error::InvalidSphere`] for spheres on the host;
    /// [`Error::SourceBuffer`] for buffers that cannot be read as they are said to
    /// be; [`Error::OverCapacity`]; [`Error::TooManyInFlight`] when each of
    /// [`BufferOptions::recordings`] is still under way; [`Error::DeviceLimit`] for more
    /// spheres on the host than one buffer holds; [`Error::DeviceLost`]. What was
    /// prepared before still holds then.
    pub fn prepare(&mut self, source: Source<'_>, dt: f32) -> Result<(), Error> {
        check_dt(dt)?;
        match source {
            Source::Host(spheres) => {
                let summary = check_spheres(spheres, dt, None)?;
                self.prepare_host([spheres, &[]], 0, dt, Units::new(dt, summary.extent()))
            }
            Source::HostBetween(first, second) => {
                let summary = check_spheres(first, dt, Some(0))?;
                let summary = summary.merge(check_spheres(second, dt, Some(1))?);
                let sets = if first.is_empty() || second.is_empty() {
                    [&[][..]; 2]
                } else {
                    [first, second]
                };
                let units = Units::new(dt, summary.extent());
                self.prepare_host(sets, sets[0].len(), dt, units)
            }
            Source::Buffers(spheres) => self.prepare_buffers(spheres, None, dt),
            Source::BuffersBetween(first, second) => self.prepare_buffers(first, Some(second), dt),
        }
    }

    fn fits(&self, spheres: u64) -> Result<(), Error> {
        let capacity = self.buffers.capacity.spheres;
        if spheres > capacity {
            return Err(Error::OverCapacity {
                needed: spheres,
                capacity,
            });
        }
        Ok(())
    }

    /// Spheres on the host, checked.
    pub(super) fn prepare_host(
        &mut self,
        sets: [&[Sphere]; 2],
        split: usize,
        dt: f32,
        units: Units,
    ) -> Result<(), Error> {
        let count = sets[0].len() + sets[1].len();
        self.fits(count as u64)?;
        let one_or_two = match split {
            0 => Sets::One,
            first => Sets::Two { first },
        };
        let params = Params::new(count, one_or_two, dt, units);
        let [first, second] = sets.map(bytemuck::cast_slice::<Sphere, u8>);
        let begin = UploadLayout::SPHERES;
        let parts = [(begin, first), (begin + first.len() as u64, second)];
        let recorded = self.about(dt, 1.0);
        self.write(params, &parts, None, recorded)
    }

    fn prepare_buffers(
        &mut self,
        first: &super::DeviceSpheres<'_>,
        second: Option<&super::DeviceSpheres<'_>>,
        dt: f32,
    ) -> Result<(), Error> {
        self.shared.alive()?;
        let loading = self
            .loads
            .prepare(&self.shared, &self.buffers, first, second)?;
        self.fits(loading.spheres)?;
        // Displacements are velocities in a step of length 1.
        let (own_dt, times) = if loading.previous {
            (1.0, dt)
        } else {
            (dt, 1.0)
        };
        // How many there are and how large is found out on the device.
        let mut params = Params::new(0, Sets::One, own_dt, Units::new(own_dt, 0.0));
        params.time_unit *= times;
        let layouts = loading.layouts;
        let parts = [
            (UploadLayout::SOURCES[0], bytemuck::bytes_of(&layouts[0])),
            (UploadLayout::SOURCES[1], bytemuck::bytes_of(&layouts[1])),
        ];
        let recorded = self.about(own_dt, times);
        self.write(params, &parts, Some(loading), recorded)
    }

    /// What a readback will have to know.
    fn about(&self, dt: f32, times: f32) -> Recorded {
        Recorded {
            serial: self.serial.wrapping_add(1),
            dt,
            times,
            stages: Vec::new(),
            max_candidates: self.options.max_candidates,
            period: self.timing.as_ref().map_or(0.0, |timing| timing.period),
            room: [0; 2],
            spheres: self.buffers.capacity.spheres,
        }
    }

    fn write(
        &mut self,
        params: Params,
        parts: &[(u64, &[u8])],
        loading: Option<Loading>,
        mut recorded: Recorded,
    ) -> Result<(), Error> {
        self.shared.alive()?;
        let capacity = self.buffers.capacity;
        let watch = if self.shared.software { FLAG_WATCH } else { 0 };
        let params = Params {
            segment_capacity: capacity.segments as u32,
            pair_capacity: capacity.pairs.min(u64::from(u32::MAX)) as u32,
            slots: self.buffers.slots,
            shortest_segment: self.shortest_segment,
            most_candidates_low: self.options.max_candidates as u32,
            most_candidates_high: (self.options.max_candidates >> 32) as u32,
            flags: params.flags | watch,
            serial: recorded.serial,
            ..params
        };
        let uploaded = u64::from(params.spheres);
        let size = if uploaded > 0 {
            UploadLayout::SPHERES + capacity.spheres * size_of::<Sphere>() as u64
        } else {
            UploadLayout::SPHERES
        };
        let mut all = vec![(UploadLayout::PARAMS, bytemuck::bytes_of(&params))];
        all.extend_from_slice(parts);
        let again = self.prepared.as_ref().map(|prepared| prepared.slot);
        let slot = self
            .uploads
            .write(&self.shared, self.options.recordings, again, size, &all)?;
        let load = loading.as_ref().map(|loading| &loading.stage);
        recorded.stages = self
            .recording
            .stages(load)
            .map(|stage| stage.name)
            .collect();
        self.serial = recorded.serial;
        self.prepared = Some(Prepared {
            slot,
            uploaded,
            loading,
            recorded,
        });
        Ok(())
    }

    /// Records all stages into the application's encoder, which has to be of the
    /// device of the pipeline: wgpu has no way to ask it, and would complain when it
    /// is finished. What stands in the results is then that of the step last
    /// recorded, when the submit of the encoder has run as far.
    ///
    /// # Errors
    /// [`Error::OutOfOrder`] if nothing has been prepared since the last recording;
    /// [`Error::DeviceLost`].
    pub fn record(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), Error> {
        self.shared.alive()?;
        let Some(prepared) = self.prepared.take() else {
            return Err(Error::OutOfOrder {
                done: "`CollisionBuffers::record` was called",
                missing: "`prepare`",
            });
        };
        let Prepared {
            slot,
            uploaded,
            loading,
            recorded,
        } = prepared;
        // What was kept of the last step before the buffers grew: unless an earlier
        // recording has taken it over, or may yet.
        let takes_over = match &self.outgrown {
            Some((_, Some(earlier))) if earlier.perhaps() => false,
            Some((_, Some(earlier))) if !earlier.never() => {
                self.outgrown = None;
                false
            }
            outgrown => outgrown.is_some(),
        };
        let (from, submitted) = self.uploads.hand_over(&self.shared, slot, encoder)?;
        let b = &self.buffers;
        let size = size_of::<Params>() as u64;
        encoder.copy_buffer_to_buffer(from, UploadLayout::PARAMS, &b.params, 0, size);
        if loading.is_some() {
            let (begin, size) = (UploadLayout::SOURCES[0], UploadLayout::SOURCES_SIZE);
            encoder.copy_buffer_to_buffer(from, begin, &b.source_layouts, 0, size);
        }
        if uploaded > 0 {
            let size = uploaded * size_of::<Sphere>() as u64;
            encoder.copy_buffer_to_buffer(from, UploadLayout::SPHERES, &b.spheres, 0, size);
        }
        if let (true, Some((old, taken))) = (takes_over, &mut self.outgrown) {
            self.reductions.continue_from(encoder, old);
            *taken = Some(submitted);
        }
        let load = loading.as_ref().map(|loading| &loading.stage);
        let queries = self.timing.as_ref().map(|timing| &timing.queries);
        self.recording.record(encoder, load, queries);
        if let Some(Timing {
            queries, resolved, ..
        }) = &self.timing
        {
            let count = 2 * recorded.stages.len() as u32;
            encoder.resolve_query_set(queries, 0..count, resolved, 0);
        }
        self.recorded = Some(recorded);
        Ok(())
    }

    /// Copies what the step last recorded came to: counts, status, times. In the
    /// encoder of the recording, or in one that is submitted later.
    ///
    /// # Errors
    /// [`Error::OutOfOrder`] if nothing has been recorded;
    /// [`Error::TooManyInFlight`]; [`Error::DeviceLost`].
    pub fn read_counts(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Ticket<Counts>, Error> {
        let recorded = self.to_read([0; 2])?;
        self.read(encoder, recorded, None, Read::counts)
    }

    /// Copies the list of the step last recorded, as the GPU has it. It has room for
    /// half as many pairs again as there were in the latest step that was read.
    ///
    /// # Errors
    /// As [`read_counts`](Self::read_counts).
    pub fn read_raw(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Ticket<RawStep>, Error> {
        let room = self.room(size_of::<CaromCollision>());
        let recorded = self.to_read(room)?;
        let [room, _] = room;
        let list = (
            self.buffers.pairs.clone(),
            room * size_of::<CaromCollision>() as u64,
        );
        self.read(encoder, recorded, Some(list), Read::raw)
    }

    /// Copies the list of the step last recorded together with both spheres of each
    /// pair as they were when the step was recorded: the host decides exactly, on the
    /// thread that takes the ticket. 64 bytes a pair, with the same room.
    ///
    /// # Errors
    /// As [`read_counts`](Self::read_counts).
    pub fn read_exact(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Ticket<ExactStep>, Error> {
        let room = self.room(size_of::<Gathered>());
        let recorded = self.to_read(room)?;
        let [room, _] = room;
        let gathering = match self.gathering.take() {
            Some(gathering) if gathering.room >= room => gathering,
            _ => scoped(&self.shared.device, || {
                self.shared.probe()?;
                self.gathering(room)
            })?,
        };
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("carom gather"),
                timestamp_writes: None,
            });
            gathering.dispatch.record(&mut pass);
        }
        let list = (
            gathering.buffer.clone(),
            room * size_of::<Gathered>() as u64,
        );
        self.gathering = Some(gathering);
        self.read(encoder, recorded, Some(list), Read::exact)
    }

    /// What a readback has to know, if there is something to read.
    fn to_read(&self, room: [u64; 2]) -> Result<Recorded, Error> {
        self.shared.alive()?;
        match &self.recorded {
            Some(recorded) => Ok(Recorded {
                room,
                ..recorded.clone()
            }),
            None => Err(Error::OutOfOrder {
                done: "results were to be read",
                missing: "`CollisionBuffers::record`",
            }),
        }
    }

    /// How many pairs of so many bytes to read, and how many could be read.
    fn room(&self, size: usize) -> [u64; 2] {
        let limits = &self.shared.limits;
        let rest = size_of::<CaromResults>() as u64 + 16 * u64::from(MOST_STAGES);
        let bytes = (limits.max_storage_buffer_binding_size)
            .min(limits.max_buffer_size.saturating_sub(rest));
        let most = bytes / size as u64;
        let wanted = (self.staging.known()).map_or(FIRST_READ, |known| known + known / 2 + 1024);
        // In steps, so that a list that changes a little finds buffers that do.
        let stepped = wanted.next_power_of_two();
        [stepped.min(self.buffers.capacity.pairs).min(most), most]
    }

    fn gathering(&self, room: u64) -> Result<Gathering, Error> {
        let b = &self.buffers;
        let device = &self.shared.device;
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("carom gathered pairs"),
            size: room * size_of::<Gathered>() as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let own = Scope::default().with::<Gathered>("gathered", &buffer);
        let dispatch = self.shared.binder().dispatch(
            &self.shared.gather.gather,
            &[&b.scope, &own],
            workgroups(room),
        )?;
        Ok(Gathering {
            room,
            buffer,
            dispatch,
        })
    }

    fn read<T>(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        recorded: Recorded,
        list: Option<(wgpu::Buffer, u64)>,
        decode: fn(Read) -> Result<Option<T>, Error>,
    ) -> Result<Ticket<T>, Error> {
        let ticks = 16 * recorded.stages.len() as u64;
        let mut parts = vec![(&self.buffers.results, size_of::<CaromResults>() as u64)];
        parts.extend(self.timing.as_ref().map(|timing| (&timing.resolved, ticks)));
        parts.extend(list.iter().map(|(buffer, size)| (buffer, *size)));
        self.staging
            .read(&self.shared, encoder, &parts, recorded, decode)
    }

    /// Makes room for what a step needed, and half as much again; nothing is made
    /// smaller. Returns whether that took new buffers: then the next step has to be
    /// prepared anew, and bind groups of the application that hold one of these buffers
    /// have to be made anew. Tickets that are out stay good (those of frames that were
    /// in flight may tell of the same need again, which is then met), and
    /// [`changes`](Self::changes) go on from the last step whose list was whole.
    ///
    /// Where segments would take more memory than the spheres themselves do 16 times
    /// over, or than the device has, they become longer instead.
    ///
    /// # Errors
    /// [`Error::DeviceLimit`], [`Error::Device`] if the device cannot hold as much:
    /// the buffers are then what they were.
    pub fn grow(&mut self, needed: &Needed) -> Result<bool, Error> {
        let (capacity, shortest_segment) = self.grown(needed)?;
        let grows = capacity != self.buffers.capacity;
        if grows {
            self.resize(capacity)?;
        }
        self.shortest_segment = shortest_segment;
        Ok(grows)
    }

    /// The capacity that meets a need, and how short segments may be then.
    pub(super) fn grown(&self, needed: &Needed) -> Result<(Capacity, f32), Error> {
        let had = self.buffers.capacity;
        let limits = &self.shared.limits;
        let most = Buffers::most_proxies(limits);
        let mut capacity = had;
        if needed.spheres > had.spheres {
            if needed.spheres > MOST_SPHERES as u64 {
                return Err(Error::TooManySpheres {
                    count: needed.spheres as usize,
                    limit: MOST_SPHERES,
                });
            }
            capacity.spheres = with_room(needed.spheres, (most / 2).min(MOST_SPHERES as u64));
        }
        let room = most.saturating_sub(capacity.spheres);
        let mut shortest_segment = self.shortest_segment;
        if needed.segments > had.segments {
            let all = needed.spheres.saturating_add(needed.segments);
            if all > most_proxies(needed.spheres as usize).min(most)
                && shortest_segment < MAX_MAGNITUDE
            {
                // Longer segments, as the CPU does it; once for all steps that were
                // in flight together.
                shortest_segment = shortest_segment.max(2.0 * needed.segment);
            } else {
                capacity.segments = with_room(needed.segments, room);
            }
        }
        capacity.segments = capacity.segments.min(room);
        if needed.pairs > had.pairs {
            capacity.pairs = with_room(needed.pairs, Buffers::most_pairs(limits));
        }
        Ok((capacity, shortest_segment))
    }

    fn resize(&mut self, capacity: Capacity) -> Result<(), Error> {
        let shared = &self.shared;
        let World {
            buffers,
            recording,
            reductions,
        } = scoped(&shared.device, || {
            shared.probe()?;
            World::new(shared, capacity, self.options.wanted())
        })?;
        self.buffers = buffers;
        self.recording = recording;
        let old = std::mem::replace(&mut self.reductions, reductions);
        // What the last step left is in the oldest, if no step came in between.
        self.outgrown.get_or_insert((old, None));
        self.loads.clear();
        self.gathering = None;
        // Its slot stays written, for the next step to overwrite.
        self.prepared = None;
        self.recorded = None;
        self.options.set(capacity);
        Ok(())
    }

    /// What the buffers were made for, with the capacities as they are now.
    pub fn options(&self) -> &BufferOptions {
        &self.options
    }
}
