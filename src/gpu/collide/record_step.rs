//! Prepares a step or a search for neighbours, and records its commands.

use std::mem::offset_of;
use std::sync::Arc;

use super::buffers::{BufferCapacity, Buffers};
use super::collision_buffers::{CollisionBuffers, Outgrown};
use super::neighbors::Neighbors;
use super::stages::Recording;
use super::walls::StepWalls;
use crate::gpu::device::context::Late;
use crate::gpu::device::shader::constants::{
    FLAG_APPROACHING, FLAG_DECIDE, FLAG_SHORT_RECORDS, FLAG_TRUSTED, FLAG_WATCH,
};
use crate::gpu::device::shader::layout::{GpuLattice, NeighborRequest, Params, SourceLayout};
use crate::gpu::device::timing::TimedBy;
use crate::gpu::input::device_spheres::{Attribute, DeviceSpheres};
use crate::gpu::input::host_step::HostStep;
use crate::gpu::input::load::Loading;
use crate::gpu::input::upload::{COMPACT, Submitted, Upload, Written, uniform_padding};
use crate::gpu::results::decode::Recorded;
use crate::gpu::self_test::RecordedTest;
use crate::shared::sets::Sets;
use crate::shared::units::Units;
use crate::step::{CheckedStep, Step, UncheckedStep};
use crate::{Domain, Error, Sphere, Values, Walls};

/// A step with its values already in an upload buffer. Recording its commands cannot fail.
pub struct Ready {
    written: Written,
    /// Spheres with an upload buffer of their own.
    spheres: Option<Written>,
    loading: Option<Loading>,
    /// The search for spheres near triangles, with an upload buffer of its own.
    mesh: Option<Box<Ready>>,
    test: Option<RecordedTest>,
    recorded: Recorded,
}

pub(crate) struct InnerStep {
    params: Params,
    lattice: Option<GpuLattice>,
}

impl InnerStep {
    /// They serve any number of steps.
    pub(crate) fn add_to<'a>(&'a self, upload: &mut Upload<'a>, to: &Buffers) {
        upload.add(&to.params, [bytemuck::bytes_of(&self.params)]);
        if let (Some(periodic), Some(lattice)) = (&to.periodic, &self.lattice) {
            upload.add(&periodic.given_lattice, [bytemuck::bytes_of(lattice)]);
        }
    }
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Extras<'a> {
    pub(crate) walls: Option<&'a StepWalls>,
    pub(crate) request: Option<NeighborRequest>,
    /// Leaves out what touches at the start and does not approach.
    pub(crate) approaching: bool,
}

/// As [`Sphere`] lays them out.
fn in_own_layout(buffer: &wgpu::Buffer, count: u32) -> DeviceSpheres<'_> {
    let at = |offset: usize| Attribute::new(buffer, offset as u64, size_of::<Sphere>() as u64);
    let (center, radius) = (
        at(offset_of!(Sphere, center)),
        at(offset_of!(Sphere, radius)),
    );
    DeviceSpheres::new(count, center, radius)
        .with_velocity(at(offset_of!(Sphere, velocity)))
        .with_groups(at(offset_of!(Sphere, groups)))
}

/// The stage `load` reads the spheres of `step` without what they share.
fn expanding<'a>(small: &'a wgpu::Buffer, step: &CheckedStep<'_>) -> Step<'a, DeviceSpheres<'a>> {
    let shared = step.spheres.first().copied().unwrap_or_default();
    let set = |first: usize, count: usize| {
        let at = |offset: usize| {
            Attribute::new(small, (COMPACT * first + offset) as u64, COMPACT as u64)
        };
        DeviceSpheres::new(count as u32, at(0), Values::Constant(shared.radius))
            .with_velocity(at(COMPACT / 2))
            .with_groups(Values::Constant(shared.groups))
    };
    let count = step.spheres.len();
    let whole = match step.sets {
        Sets::One => Step::on_device(set(0, count), step.dt),
        Sets::Two { first } => {
            Step::between_on_device(set(0, first), set(first, count - first), step.dt)
        }
    };
    whole.in_domain(&step.domain)
}

/// Only a simulation reads inverse masses.
fn refuse_masses(spheres: &DeviceSpheres<'_>) -> Result<(), Error> {
    match spheres.inverse_mass {
        None => Ok(()),
        Some(_) => Err(Error::SourceBuffer {
            what: "inverse masses",
            problem: "is for `SimulationBuffers::record` only, because collisions do not depend on masses; leave out \
                      `DeviceSpheres::with_inverse_mass`"
                .into(),
            source: None,
        }),
    }
}

fn recording_of<'a>(
    step: &'a Recording,
    neighbors: Option<&'a Neighbors>,
    for_neighbors: bool,
) -> &'a Recording {
    match neighbors {
        Some(neighbors) if for_neighbors => &neighbors.recording,
        _ => step,
    }
}

fn extent_of(walls: Option<&StepWalls>) -> f32 {
    walls.map_or(0.0, |walls| walls.extent)
}

impl CollisionBuffers {
    /// Checks the spheres while it copies them.
    pub(crate) fn record_unchecked<'a>(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        step: UncheckedStep<'a>,
    ) -> Result<CheckedStep<'a>, Error> {
        self.begin_recording()?;
        self.fits(step.spheres.len() as u64)?;
        let (context, most) = (&self.kernels.context, self.options.recordings);
        let small = if self.options.compact {
            // Free until the stage `scatter`.
            Some(self.buffers.named.buffer("sorted_proxies")?.clone())
        } else {
            None
        };
        let to = (&self.buffers.spheres, small.as_ref());
        let (spheres, step, is_compact) =
            (self.sphere_uploads).write_spheres(context, most, to, step)?;
        // Otherwise, each step might write nearly all of its spheres twice.
        self.options.compact = is_compact;
        let ready = match small.filter(|_| is_compact) {
            Some(small) => Ready {
                spheres: Some(spheres),
                ..self.ready_device(&expanding(&small, &step), None)?
            },
            None => self.ready_host(&step.into(), Extras::default(), Some(spheres))?,
        };
        self.encode(encoder, ready);
        Ok(step)
    }

    pub(crate) fn begin_recording(&mut self) -> Result<(), Error> {
        self.kernels.context.alive()?;
        self.late.check()?;
        self.forget_outgrown();
        Ok(())
    }

    pub(crate) fn ready_host(
        &mut self,
        step: &HostStep<'_>,
        extras: Extras<'_>,
        written: Option<Written>,
    ) -> Result<Ready, Error> {
        let &HostStep {
            parts,
            sets,
            dt,
            domain,
            summary,
        } = step;
        let lattice = self.lattice(&domain)?;
        let count = parts[0].len() + parts[1].len();
        self.fits(count as u64)?;
        self.fit_walls(extras.walls)?;
        let extent = summary.extent().max(domain.extent());
        let units = Units::new(dt, extent.max(extent_of(extras.walls)));
        let params = Params::new(count, sets, dt, units);
        let spheres = match written {
            Some(_) => [&[][..]; 2],
            None => parts.map(bytemuck::cast_slice::<Sphere, u8>),
        };
        let times = [dt, 1.0];
        let recorded = self.about(times, sets.are_two(), domain, lattice.as_ref(), extras);
        let ready = self.ready(params, spheres, lattice, extras, None, recorded)?;
        Ok(Ready {
            spheres: written,
            ..ready
        })
    }

    pub(crate) fn ready_device(
        &mut self,
        step: &Step<'_, DeviceSpheres<'_>>,
        request: Option<NeighborRequest>,
    ) -> Result<Ready, Error> {
        let &Step {
            first,
            second,
            domain,
            ..
        } = step;
        let (dt, walls) = (step.dt(), step.walls());
        let lattice = self.lattice(&domain)?;
        let searched = self.neighbors.as_ref().filter(|_| request.is_some());
        for spheres in [Some(&first), second.as_ref()].into_iter().flatten() {
            refuse_masses(spheres)?;
        }
        let mut loading = self.loads.load(
            &self.kernels,
            &self.buffers,
            searched.map(|neighbors| &neighbors.given),
            &first,
            second.as_ref(),
        )?;
        self.fits(loading.spheres)?;
        // The displacement then serves as the velocity, and the length of the step is 1.
        let (own_dt, times) = if loading.previous {
            (1.0, dt)
        } else {
            (dt, 1.0)
        };
        // The kernels `load_params` and `load_units` set the number of spheres and the
        // unit of length.
        let slower = if loading.previous { dt } else { 1.0 };
        let walls = StepWalls::new(walls, dt, slower, &domain, self.last_walls())?;
        let walls = walls.as_ref();
        self.fit_walls(walls)?;
        let mut params = Params::new(0, Sets::One, own_dt, Units::new(own_dt, 0.0));
        params.time_unit *= times;
        params.given_times = times.to_bits();
        let skin = request.map_or(0.0, |request| request.skin);
        let extent = domain.extent().max(skin);
        loading.layouts[0].domain_extent = extent.max(extent_of(walls));
        let times = [own_dt, times];
        let extras = Extras {
            walls,
            request,
            approaching: step.approaching,
        };
        let mut recorded = self.about(times, second.is_some(), domain, lattice.as_ref(), extras);
        recorded.sources = loading.late.clone();
        self.ready(params, [&[]; 2], lattice, extras, Some(loading), recorded)
    }

    fn fit_walls(&self, walls: Option<&StepWalls>) -> Result<(), Error> {
        let Some(walls) = walls else {
            return Ok(());
        };
        let BufferCapacity {
            walls: simple,
            triangles,
            ..
        } = self.buffers.capacity;
        let capacities = [("walls", simple), ("triangles", triangles)];
        for ((option, capacity), needed) in capacities.into_iter().zip(walls.counts()) {
            if needed > 0 && capacity == 0 {
                return Err(Error::NotAskedFor { option });
            }
            if needed > capacity {
                return Err(Error::TooManyWalls {
                    what: option,
                    needed,
                    capacity,
                });
            }
        }
        Ok(())
    }

    pub(crate) fn last_walls(&self) -> Option<&Arc<Walls>> {
        self.recorded.as_ref()?.walls.as_ref()
    }

    /// `None` if the buffers were made for open space only.
    fn lattice(&self, domain: &Domain) -> Result<Option<GpuLattice>, Error> {
        if self.buffers.periodic.is_some() {
            return Ok(Some(GpuLattice::new(domain)?));
        }
        if domain.is_open() {
            return Ok(None);
        }
        Err(Error::NotAskedFor { option: "periodic" })
    }

    fn ready_mesh(
        &mut self,
        triangles: u32,
        recorded: &Recorded,
    ) -> Result<Option<Box<Ready>>, Error> {
        let (Some(mesh), Some(walls)) = (&mut self.mesh, &self.buffers.walls) else {
            return Ok(None);
        };
        let most = self.buffers.capacity.spheres as u32;
        let spheres = in_own_layout(&self.buffers.spheres, most)
            .with_count_in(&self.buffers.params, offset_of!(Params, spheres) as u64);
        let bounds = in_own_layout(&walls.bounds, triangles);
        let step = Step::between_on_device(spheres, bounds, recorded.dt);
        let ready = mesh.ready_device(&step.in_domain(&recorded.domain), None)?;
        Ok(Some(Box::new(ready)))
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

    fn about(
        &self,
        [dt, times]: [f32; 2],
        two_sets: bool,
        domain: Domain,
        lattice: Option<&GpuLattice>,
        extras: Extras<'_>,
    ) -> Recorded {
        Recorded {
            domain,
            most_cells: lattice.map(|lattice| lattice.most_cells as i32),
            serial: self.serial.wrapping_add(1),
            dt,
            times,
            two_sets,
            for_neighbors: extras.request.is_some(),
            stages: Vec::new(),
            max_candidates: self.options.max_candidates,
            period: self.timing.as_ref().map_or(0.0, |timing| timing.period),
            spheres: self.buffers.capacity.spheres,
            walls: extras.walls.map(StepWalls::shared),
            approaching: extras.approaching,
            trusted: false,
            sources: Late::default(),
        }
    }

    /// Prepares steps of spheres at rest that kernels of carom store in `buffers.spheres`,
    /// without a stage `load`. The kernels also set the parameters that depend on the
    /// spheres, and the counters `extent` and `invalid`, after [`Recording::clear`].
    pub(crate) fn inner_step(&self, domain: &Domain) -> Result<InnerStep, Error> {
        let params = Params::new(0, Sets::One, 0.0, Units::new(0.0, 0.0));
        Ok(InnerStep {
            lattice: self.lattice(domain)?,
            params: self.with_capacities(params),
        })
    }

    fn with_capacities(&self, params: Params) -> Params {
        let capacity = self.buffers.capacity;
        let software = self.kernels.context.software;
        let watch = if software { FLAG_WATCH } else { 0 };
        let decide = match (self.options.decided, self.kernels.trust.is_right()) {
            (false, _) => 0,
            (true, false) => FLAG_DECIDE,
            (true, true) => FLAG_DECIDE | FLAG_TRUSTED,
        };
        let short = if self.options.short_records {
            FLAG_SHORT_RECORDS
        } else {
            0
        };
        Params {
            segment_capacity: capacity.segments as u32,
            pair_capacity: capacity.pairs.min(u64::from(u32::MAX)) as u32,
            slots: self.buffers.slots,
            shortest_segment: self.shortest_segment,
            most_candidates_low: self.options.max_candidates as u32,
            most_candidates_high: (self.options.max_candidates >> 32) as u32,
            flags: params.flags | watch | decide | short,
            ..params
        }
    }

    /// No later part of a recording can fail.
    fn ready(
        &mut self,
        params: Params,
        spheres: [&[u8]; 2],
        lattice: Option<GpuLattice>,
        extras: Extras<'_>,
        loading: Option<Loading>,
        mut recorded: Recorded,
    ) -> Result<Ready, Error> {
        let Extras {
            walls,
            request,
            approaching,
        } = extras;
        let mut params = Params {
            serial: recorded.serial,
            ..self.with_capacities(params)
        };
        if approaching {
            params.flags |= FLAG_APPROACHING;
        }
        recorded.trusted = params.flags & FLAG_TRUSTED != 0;
        let room = self.buffers.capacity.wall_collisions;
        let wall_params = StepWalls::params(walls, &recorded.domain, room);
        let triangles = walls.map_or_else(|| Ok(Vec::new()), StepWalls::triangles)?;
        let bounds = walls.map_or_else(|| Ok(Vec::new()), StepWalls::bounds)?;
        let shapes = walls.map_or_else(Vec::new, StepWalls::shapes);
        let lattices = walls.map_or_else(Vec::new, StepWalls::lattices);
        let load = loading.as_ref().map(|loading| &loading.stage);
        let neighbors = self.neighbors.as_ref();
        let recording = recording_of(&self.recording, neighbors, request.is_some());
        let passes = recording.passes(load, self.timed_by()).into_iter();
        recorded.stages = passes.map(|pass| pass.name).collect();
        let b = &self.buffers;
        let mut upload = Upload::default();
        upload.add(&b.params, [bytemuck::bytes_of(&params)]);
        if let (Some(periodic), Some(lattice)) = (&b.periodic, &lattice) {
            upload.add(&periodic.given_lattice, [bytemuck::bytes_of(lattice)]);
        }
        if let Some(Loading { layouts, .. }) = &loading {
            let [first, second] = layouts.each_ref().map(bytemuck::bytes_of);
            let between = uniform_padding::<SourceLayout>();
            upload.add(&b.source_layouts, [first, between, second]);
        }
        let mut given = &b.spheres;
        if let (Some(neighbors), Some(request)) = (neighbors, &request) {
            upload.add(&neighbors.request, [bytemuck::bytes_of(request)]);
            given = &neighbors.given_spheres;
        }
        if spheres.iter().any(|part| !part.is_empty()) {
            upload.add(given, spheres);
        }
        if let Some(to) = &b.walls {
            upload.add(&to.params, [bytemuck::bytes_of(&wall_params)]);
            upload.add(&to.shapes, [bytemuck::cast_slice(&shapes)]);
            upload.add(&to.lattices, [bytemuck::cast_slice(&lattices)]);
            upload.add(&to.triangles, [bytemuck::cast_slice(&triangles)]);
            upload.add(&to.bounds, [bytemuck::cast_slice(&bounds)]);
        }
        let mesh = self.ready_mesh(bounds.len() as u32, &recorded)?;
        let mut test = None;
        if self.options.decided {
            test = RecordedTest::new(&self.kernels)?;
        }
        let (context, most) = (&self.kernels.context, self.options.recordings);
        Ok(Ready {
            written: self.uploads.write(context, most, upload)?,
            spheres: None,
            loading,
            mesh,
            test,
            recorded,
        })
    }

    fn timed_by(&self) -> TimedBy {
        self.timing
            .as_ref()
            .map_or(TimedBy::Stage, |timing| timing.by)
    }

    pub(crate) fn encode(&mut self, encoder: &mut wgpu::CommandEncoder, ready: Ready) {
        let Ready {
            written,
            spheres,
            loading,
            mesh,
            test,
            recorded,
        } = ready;
        if let Some(test) = test {
            test.record(encoder);
        }
        let for_neighbors = recorded.for_neighbors;
        if let Some(neighbors) = &self.neighbors
            && !for_neighbors
        {
            // The step overwrites the buffers of the list.
            encoder.clear_buffer(&neighbors.state, 0, None);
        }
        let submitted = written.record(encoder);
        if let Some(spheres) = spheres {
            spheres.record(encoder);
        }
        self.continue_changes(encoder, submitted);
        let load = loading.as_ref().map(|loading| &loading.stage);
        let queries = self.timing.as_ref().map(|timing| &timing.queries);
        let by = self.timed_by();
        let searching = self.mesh.as_mut().zip(mesh);
        let recording = recording_of(&self.recording, self.neighbors.as_ref(), for_neighbors);
        recording.clear(encoder);
        recording.record(encoder, load, (by, queries), |encoder| {
            if let Some((buffers, ready)) = searching {
                buffers.encode(encoder, *ready);
            }
        });
        if let Some(timing) = &self.timing {
            timing.resolve(encoder, recorded.stages.len());
        }
        self.serial = recorded.serial;
        self.recorded = Some(recorded);
    }

    /// They are needed until a submitted recording has copied the pairs of the last complete step.
    fn forget_outgrown(&mut self) {
        let copied = |outgrown: &Outgrown| {
            let by = outgrown.copied_by.as_ref();
            by.is_some_and(|by| !by.perhaps() && !by.never())
        };
        self.outgrown.take_if(|outgrown| copied(outgrown));
    }

    /// Copies the pairs of the last complete step to the larger buffers that have replaced
    /// the old ones, unless an earlier recording does, whose encoder was not dropped.
    fn continue_changes(&mut self, encoder: &mut wgpu::CommandEncoder, submitted: Submitted) {
        let Some(Outgrown {
            reductions,
            copied_by,
        }) = &mut self.outgrown
        else {
            return;
        };
        if copied_by.as_ref().is_none_or(Submitted::never) {
            self.reductions.continue_from(encoder, reductions);
            *copied_by = Some(submitted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::BufferOptions;
    use super::*;
    use crate::gpu::pipeline::CollisionPipeline;
    use crate::gpu::results::capacity::Capacity;

    #[test]
    fn outgrown_buffers_are_dropped_once_a_submitted_recording_copied_them() -> Result<(), Error> {
        let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
        let options = BufferOptions::new(10).with_changes().with_recordings(1);
        let mut buffers = CollisionPipeline::new(&device)?.create_buffers(&options)?;
        buffers.grow(&Capacity::for_spheres(20))?;
        let spheres = [Sphere::new([0.0; 3], 1.0)];
        let record = |buffers: &mut CollisionBuffers, submit: bool| {
            let mut encoder = device.create_command_encoder(&Default::default());
            buffers.record(&mut encoder, &Step::new(&spheres, 1.0))?;
            if submit {
                queue.submit([encoder.finish()]);
                let polled = device.poll(wgpu::PollType::wait_indefinitely());
                assert!(polled.is_ok());
            }
            Ok::<_, Error>(buffers.outgrown.is_some())
        };
        // The first two encoders are dropped, the third recording copies the pairs, and
        // the fourth drops the old buffers.
        assert!(record(&mut buffers, false)?);
        assert!(record(&mut buffers, false)?);
        assert!(record(&mut buffers, true)?);
        assert!(!record(&mut buffers, true)?);
        Ok(())
    }
}
