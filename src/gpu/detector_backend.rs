//! The GPU backend of `Detector`, which runs on a device that carom creates itself.

use std::time::Instant;

use bytemuck::Pod;
use rayon::prelude::*;
use wgpu::DeviceType;

use super::pipeline::CollisionPipeline;
use crate::blocking::Wait;
use crate::cpu::{Buckets, sort_reported};
use crate::exact::{GRAZING, Grazing, ReportedPair, decide_step};
use crate::gpu::collide::buffers::{BufferCapacity, Buffers};
use crate::gpu::collide::collision_buffers::CollisionBuffers;
use crate::gpu::collide::options::BufferOptions;
use crate::gpu::device::shader::layout::CaromCollision;
use crate::gpu::results::capacity::Capacity;
use crate::gpu::results::decode::{out_of_range, unfinished};
use crate::gpu::results::pair_list::unpacked_image;
use crate::gpu::results::read_now;
use crate::gpu::results::status::Status;
use crate::gpu::results::summary::StepSummary;
use crate::limits::Limits;
use crate::reuse::ReusedVec;
use crate::statistics::StepOutcome;
use crate::step::CheckedStep;
use crate::threads;
use crate::{Collision, Error};

/// A GPU device that carom has created, with the buffers for one world of spheres.
pub(crate) struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    adapter: String,
    pub(super) pipeline: CollisionPipeline,
    buffers: Option<CollisionBuffers>,
    /// The buffer through which the host reads the pairs, of at most [`READ_AT_ONCE`] bytes. It is
    /// kept from step to step, because some devices take longer to create it than to fill it.
    staging: Option<wgpu::Buffer>,
    /// The pairs of the step, as the device has reported them.
    reported: ReusedVec<ReportedPair>,
    /// The images of the reported pairs' second spheres. Empty in open space.
    reported_images: ReusedVec<[i32; 3]>,
    /// Scratch memory to sort the pairs.
    buckets: Buckets<ReportedPair>,
    /// Capacities for time segments and for pairs in the first buffers. `None` derives a capacity
    /// from the number of spheres.
    first: [Option<u64>; 2],
    /// Whether a step is running. If the future of a step is dropped early, it stays true until the next
    /// step.
    at_work: bool,
    #[cfg(test)]
    pub(super) noise: Option<u64>,
}

/// Pairs are read back in parts of at most this many bytes. Every device can create a buffer of this size.
const READ_AT_ONCE: usize = 1 << 26;
/// One thread converts at least this many of the values that were read back.
const TASK: usize = 4096;

fn rank(kind: DeviceType) -> u32 {
    match kind {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    }
}

fn new_instance() -> wgpu::Instance {
    wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env())
}

/// Returns the instance of wgpu that all detectors of the process share. It is never dropped, because the graphics
/// drivers would be unloaded with the last instance, and a driver may not allow a process to load it again many times:
/// NVIDIA's driver (580.159 on Linux) fails after 30 times.
#[cfg(not(target_arch = "wasm32"))]
fn instance() -> &'static wgpu::Instance {
    static INSTANCE: std::sync::OnceLock<wgpu::Instance> = std::sync::OnceLock::new();
    INSTANCE.get_or_init(new_instance)
}

/// Returns a new instance, because an instance in a browser belongs to one thread.
#[cfg(target_arch = "wasm32")]
fn instance() -> wgpu::Instance {
    new_instance()
}

impl Gpu {
    pub(crate) async fn new(hardware: bool) -> Result<Self, Error> {
        let mut adapters = instance().enumerate_adapters(wgpu::Backends::all()).await;
        adapters.sort_by_key(|adapter| rank(adapter.get_info().device_type));
        let Some(adapter) = adapters.into_iter().next() else {
            return Err(Error::no_adapter("no driver offers one"));
        };
        let info = adapter.get_info();
        if hardware && rank(info.device_type) > rank(DeviceType::VirtualGpu) {
            return Err(Error::no_adapter(format!(
                "{} is a software adapter, which is slower than the CPU backend",
                info.name
            )));
        }
        let offered = adapter.limits();
        let features = adapter.features() & wgpu::Features::TIMESTAMP_QUERY;
        let (device, queue) = adapter
            .request_device(&wgpu::DeviceDescriptor {
                label: Some("carom"),
                required_features: features,
                required_limits: wgpu::Limits {
                    max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
                    max_buffer_size: offered.max_buffer_size,
                    ..wgpu::Limits::default()
                },
                ..wgpu::DeviceDescriptor::default()
            })
            .await
            .map_err(Error::device_failed)?;
        Ok(Self {
            adapter: format!("{} ({})", info.name, info.backend),
            pipeline: CollisionPipeline::new_async(&device).await?,
            device,
            queue,
            buffers: None,
            staging: None,
            reported: ReusedVec::default(),
            reported_images: ReusedVec::default(),
            buckets: Buckets::default(),
            first: [None; 2],
            at_work: false,
            #[cfg(test)]
            noise: None,
        })
    }

    pub(crate) fn adapter(&self) -> &str {
        &self.adapter
    }

    /// Finds the pairs of a step. Fills `pairs` with them and, in a periodic domain, `images` with
    /// the images of their second spheres.
    pub(crate) async fn run(
        &mut self,
        step: CheckedStep<'_>,
        limits: Limits,
        wait: Wait,
        pairs: &mut Vec<Collision>,
        images: &mut Vec<[i32; 3]>,
    ) -> Result<StepOutcome, Error> {
        if self.at_work {
            // The future of an earlier step was dropped early, and the device may still use the
            // buffers. So new buffers are made.
            self.buffers = None;
        }
        self.at_work = true;
        let outcome = self.attempts(step, limits, wait).await;
        self.at_work = false;
        let mut outcome = outcome?;
        let clock = Instant::now();
        let count = self.reported.len();
        let decide = || {
            if self.reported_images.is_empty() {
                sort_reported(&mut self.reported, &mut self.buckets)?;
            }
            let reported = (&mut *self.reported, &**self.reported_images);
            decide_step(&step, reported, pairs, images)
        };
        outcome.grazing = threads::run(count, decide)?;
        outcome.stages.push(("decide", clock.elapsed()));
        Ok(outcome)
    }

    /// Runs a step. Repeats it with larger buffers until its pairs and its time segments fit.
    async fn attempts(
        &mut self,
        step: CheckedStep<'_>,
        limits: Limits,
        wait: Wait,
    ) -> Result<StepOutcome, Error> {
        if step.spheres.is_empty() {
            self.reported.empty();
            self.reported_images.empty();
            return Ok(StepOutcome::default());
        }
        let mut required = Capacity::for_spheres(step.spheres.len() as u64);
        let periodic = !step.domain.is_open();
        loop {
            self.ensure(&required, periodic, limits)?;
            let counts = self.step(step, wait).await?;
            if counts.status.contains(Status::UNFINISHED) {
                return Err(unfinished());
            }
            let most_cells = self.buffers.as_ref().and_then(CollisionBuffers::most_cells);
            if let Some(error) = out_of_range(&counts, most_cells) {
                return Err(error);
            }
            let candidates = counts.candidates;
            let (slots, memory) = self.size();
            if counts.status.contains(Status::TOO_CROWDED) {
                return Err(Error::TooManyCandidates {
                    needed: candidates,
                    limit: limits.candidates,
                });
            }
            // This check only bounds the memory: it allows at least twice as many pairs as the caller's
            // limit. The exact limit applies later, because the GPU may report a pair several times, or a
            // pair that does not touch. The host removes such pairs first.
            if counts.found / 2 > limits.pairs.max(1 << 16) {
                return Err(Error::TooManyPairs {
                    needed: counts.found,
                    limit: limits.pairs,
                });
            }
            if let Some(more) = counts.required_capacity() {
                required = more;
                continue;
            }
            let outcome = StepOutcome {
                proxies: counts.proxies,
                levels: counts.levels,
                slots,
                candidates,
                memory,
                stages: counts.stages,
                grazing: Grazing::default(),
            };
            let count = counts.found as usize;
            let b_offset = step.sets.b_offset() as u32;
            self.read_pairs(count, b_offset, wait).await?;
            self.read_images(count, wait).await?;
            return Ok(outcome);
        }
    }

    /// Returns the number of entries in the hash table of grid cells, and the size in bytes of the
    /// storage buffers other than `spheres` and `pairs`. Both are 0 before the buffers have been
    /// created.
    fn size(&self) -> (u64, u64) {
        let buffers = self.buffers.as_ref().map(|buffers| &buffers.buffers);
        buffers.map_or((0, 0), |buffers| (buffers.slots.into(), buffers.working))
    }

    fn ensure(&mut self, required: &Capacity, periodic: bool, limits: Limits) -> Result<(), Error> {
        // Buffers for periodic domains make a step in open space slower. Buffers for open space
        // cannot do a step in a periodic domain.
        let fit = |buffers: &mut CollisionBuffers| buffers.options.periodic == periodic;
        self.buffers.take_if(|buffers| !fit(buffers));
        let had = self
            .buffers
            .as_ref()
            .map_or(0, |buffers| buffers.buffers.capacity.spheres);
        if had > 16 * required.spheres + (1 << 16) {
            self.buffers = None;
            self.staging = None;
        }
        let mut buffers = match self.buffers.take() {
            Some(buffers) => buffers,
            None => self.first(required.spheres, periodic)?,
        };
        buffers.options.max_candidates = limits.candidates;
        // If a step has too many time segments, carom raises the shortest permitted length of a
        // segment and runs the step again. A new step resets this length. `required.segments` is 0
        // in the first run of a step, because the number of segments is not known yet.
        if required.segments == 0 {
            buffers.shortest_segment = f32::MIN_POSITIVE;
        }
        let (capacity, shortest_segment) = buffers.grown(required)?;
        if capacity != buffers.buffers.capacity {
            let options = buffers.options.clone();
            // Frees the old buffers before the larger ones are made, so that the device need not
            // hold both.
            drop(buffers);
            buffers = self.pipeline.with_capacity(&options, capacity)?;
        }
        buffers.shortest_segment = shortest_segment;
        #[cfg(test)]
        self.fill_with_noise(&buffers.buffers);
        self.buffers = Some(buffers);
        Ok(())
    }

    fn first(&self, spheres: u64, periodic: bool) -> Result<CollisionBuffers, Error> {
        let limits = &self.pipeline.kernels.context.limits;
        let [segments, pairs] = self.first;
        let room = Buffers::most_proxies(limits).saturating_sub(spheres);
        let capacity = BufferCapacity {
            spheres,
            // The first capacity for time segments is small, because in most worlds no sphere moves
            // that far. The buffers grow on demand. In a periodic domain, the capacity includes
            // images of spheres near a face.
            segments: segments
                .unwrap_or(spheres / if periodic { 4 } else { 64 } + 1024)
                .min(room),
            pairs: pairs
                .unwrap_or(spheres + 1024)
                .min(Buffers::most_pairs(limits)),
            // The detector tests walls on the host.
            walls: 0,
            triangles: 0,
            mesh_segments: 0,
            mesh_pairs: 0,
            wall_collisions: 0,
        };
        let options = BufferOptions {
            recordings: 2,
            timestamp_period: Some(self.queue.get_timestamp_period()),
            periodic,
            ..BufferOptions::new(spheres as u32)
        };
        self.pipeline.with_capacity(&options, capacity)
    }

    async fn step(&mut self, step: CheckedStep<'_>, wait: Wait) -> Result<StepSummary, Error> {
        let Some(buffers) = &mut self.buffers else {
            return Err(no_buffers());
        };
        let context = &self.pipeline.kernels.context;
        let submit = || {
            let mut encoder = encoder(&self.device);
            buffers.record_checked(&mut encoder, step)?;
            let ticket = buffers.read_summary(&mut encoder)?;
            self.queue.submit([encoder.finish()]);
            Ok(ticket)
        };
        let ticket = context.scoped_async(submit).await?;
        self.finish_work(wait)?;
        ticket.take().await
    }

    /// Makes sure that submitted GPU work and its callbacks complete. With [`Wait::Block`], they
    /// have completed when this method returns. With [`Wait::Await`], they complete some time
    /// later.
    fn finish_work(&self, wait: Wait) -> Result<(), Error> {
        match wait {
            Wait::Block => self.pipeline.kernels.context.scoped(|| poll(&self.device)),
            Wait::Await => poll_elsewhere(&self.device),
        }
    }

    /// Reads the list of pairs back from the GPU. With two sets, `b_offset` is added to the index
    /// of the second sphere, so that both indices of a pair refer to one list of spheres.
    async fn read_pairs(&mut self, count: usize, b_offset: u32, wait: Wait) -> Result<(), Error> {
        let Some(buffers) = &self.buffers else {
            return Err(no_buffers());
        };
        let buffer = buffers.pairs().clone();
        let convert = |pair: CaromCollision| ReportedPair {
            a: pair.a,
            b: ((pair.b_and_grazing & !GRAZING) + b_offset) | pair.b_and_grazing & GRAZING,
        };
        let mut reported = std::mem::take(&mut self.reported);
        let all = reported.enough(count, "the pairs found")?;
        self.read(&buffer, all, convert, wait).await?;
        reported.truncate(count);
        self.reported = reported;
        Ok(())
    }

    /// Reads the images of the pairs' second spheres back from the GPU. There are none in open
    /// space.
    async fn read_images(&mut self, count: usize, wait: Wait) -> Result<(), Error> {
        let Some(buffers) = &self.buffers else {
            return Err(no_buffers());
        };
        let Some(periodic) = &buffers.buffers.periodic else {
            self.reported_images.empty();
            return Ok(());
        };
        let buffer = periodic.pair_images.clone();
        let mut images = std::mem::take(&mut self.reported_images);
        let all = images.enough(count, "the images of the pairs")?;
        self.read(&buffer, all, unpacked_image, wait).await?;
        images.truncate(count);
        self.reported_images = images;
        Ok(())
    }

    /// Fills `all` with the first values of a GPU buffer, each converted by `convert`.
    async fn read<T: Pod, R: Send>(
        &mut self,
        buffer: &wgpu::Buffer,
        all: &mut [R],
        convert: impl Fn(T) -> R + Sync,
        wait: Wait,
    ) -> Result<(), Error> {
        let context = &self.pipeline.kernels.context;
        let mut from = 0;
        for part in all.chunks_mut(READ_AT_ONCE / size_of::<T>()) {
            let size = (part.len() * size_of::<T>()) as u64;
            let staging = self.staging.take().filter(|kept| kept.size() >= size);
            let submit = || {
                let new = || read_now::staging(&self.device, size.next_power_of_two());
                let staging = staging.unwrap_or_else(new);
                let (encoder, range) = (encoder(&self.device), (buffer, from, size));
                Ok(read_now::submit(&self.queue, encoder, &[range], staging))
            };
            let reading = context.scoped_async(submit).await?;
            self.finish_work(wait)?;
            let view = reading.bytes().await?;
            // In a browser, other threads may not use the view itself.
            let bytes: &[u8] = &view;
            threads::run(part.len(), || {
                let parts = part.par_chunks_mut(TASK);
                let bytes = bytes.par_chunks(TASK * size_of::<T>());
                parts.zip(bytes).for_each(|(part, bytes)| {
                    for (value, read) in part.iter_mut().zip(read_now::values(bytes)) {
                        *value = convert(read);
                    }
                });
                Ok(())
            })?;
            drop(view);
            self.staging = Some(context.scoped(|| Ok(reading.unmapped()))?);
            from += size;
        }
        Ok(())
    }
}

fn no_buffers() -> Error {
    Error::device("carom has not created its buffers")
}

fn poll(device: &wgpu::Device) -> Result<(), Error> {
    device
        .poll(wgpu::PollType::wait_indefinitely())
        .map(|_| ())
        .map_err(Error::device_failed)
}

#[cfg(not(target_arch = "wasm32"))]
fn poll_elsewhere(device: &wgpu::Device) -> Result<(), Error> {
    let device = device.clone();
    let wait = move || {
        if let Err(error) = poll(&device) {
            log::error!("{error}");
        }
    };
    let thread = std::thread::Builder::new().name("carom".to_owned());
    thread.spawn(wait).map_err(Error::threads)?;
    Ok(())
}

/// Does nothing, because a browser polls the device itself.
#[cfg(target_arch = "wasm32")]
fn poll_elsewhere(_device: &wgpu::Device) -> Result<(), Error> {
    Ok(())
}

pub(super) fn encoder(device: &wgpu::Device) -> wgpu::CommandEncoder {
    device.create_command_encoder(&wgpu::CommandEncoderDescriptor {
        label: Some("carom"),
    })
}

#[cfg(test)]
impl Gpu {
    pub(crate) fn with_first_capacities(
        mut self,
        pairs: Option<u64>,
        segments: Option<u64>,
    ) -> Self {
        self.first = [segments, pairs];
        self
    }

    /// Lets a test lower the device limits that carom respects. Drops the GPU buffers, so that the
    /// next step makes new ones within the lowered limits.
    pub(crate) fn limits(&mut self) -> &mut wgpu::Limits {
        self.buffers = None;
        let kernels = std::sync::Arc::get_mut(&mut self.pipeline.kernels);
        match kernels.and_then(|kernels| std::sync::Arc::get_mut(&mut kernels.context)) {
            Some(context) => &mut context.limits,
            None => panic!("the pipeline is in use"),
        }
    }

    /// Fills all storage buffers with random bits, to show that no shader relies on memory being
    /// zero.
    pub(super) fn fill_with_noise(&self, b: &Buffers) {
        let Some(seed) = self.noise else {
            return;
        };
        let mut rng = fastrand::Rng::with_seed(seed);
        for buffer in &b.storage {
            let noise: Vec<u32> = (0..buffer.size() / 4).map(|_| rng.u32(..)).collect();
            self.queue
                .write_buffer(buffer, 0, bytemuck::cast_slice(&noise));
        }
    }
}

#[cfg(test)]
mod tests;
