//! The GPU backend of `Detector`, which runs on a device that carom creates itself.

use bytemuck::Pod;
use wgpu::DeviceType;

use super::buffers::{Buffers, Capacity};
use super::collision_buffers::CollisionBuffers;
use super::decode::{out_of_range, unfinished};
use super::options::BufferOptions;
use super::pair_list::unpacked_image;
use super::pipeline::CollisionPipeline;
use super::read_now;
use super::shader::layout::CaromCollision;
use super::status::Status;
use super::summary::{RequiredCapacity, StepSummary};
use crate::Error;
use crate::blocking::Wait;
use crate::exact::{GRAZING, Grazing, Reported, ReportedPair};
use crate::limits::Limits;
use crate::outcome::Outcome;
use crate::step::CheckedStep;

/// A GPU device that carom has created, with the buffers for one world of spheres.
pub(crate) struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    adapter: String,
    pub(super) pipeline: CollisionPipeline,
    buffers: Option<CollisionBuffers>,
    /// Capacities for time segments (parts of fast spheres' paths) and for pairs in the first
    /// buffers. `None` derives a capacity from the number of spheres.
    first: [Option<u64>; 2],
    /// Whether a step is running. If the future of a step is dropped early, it stays true until the next
    /// step.
    at_work: bool,
    #[cfg(test)]
    pub(super) noise: Option<u64>,
}

/// Pairs are read back in parts of at most this many bytes. Every device can create a buffer of this size.
const READ_AT_ONCE: u64 = 1 << 26;

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

/// Returns the instance of wgpu that all detectors of the process use. It is never dropped, because a driver may not
/// allow a process to unload it and load it again: NVIDIA's driver (580.159 on Linux) fails after 30 times.
#[cfg(not(target_arch = "wasm32"))]
fn instance() -> &'static wgpu::Instance {
    static INSTANCE: std::sync::OnceLock<wgpu::Instance> = std::sync::OnceLock::new();
    INSTANCE.get_or_init(new_instance)
}

/// Returns a new instance, because in a browser an instance of wgpu cannot be shared between threads.
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
            first: [None; 2],
            at_work: false,
            #[cfg(test)]
            noise: None,
        })
    }

    pub(crate) fn adapter(&self) -> &str {
        &self.adapter
    }

    pub(crate) async fn run(
        &mut self,
        step: CheckedStep<'_>,
        limits: Limits,
        wait: Wait,
    ) -> Result<(Outcome, Reported), Error> {
        if self.at_work {
            // The future of an earlier step was dropped early, and the device may still use the
            // buffers. So new buffers are made.
            self.buffers = None;
        }
        self.at_work = true;
        let outcome = self.attempts(step, limits, wait).await;
        self.at_work = false;
        outcome
    }

    /// Runs a step. Repeats it with larger buffers until its pairs and its time segments (parts of
    /// fast spheres' paths) fit.
    async fn attempts(
        &mut self,
        step: CheckedStep<'_>,
        limits: Limits,
        wait: Wait,
    ) -> Result<(Outcome, Reported), Error> {
        if step.spheres.is_empty() {
            return Ok((Outcome::default(), Reported::Open(Vec::new())));
        }
        let mut required = RequiredCapacity::for_spheres(step.spheres.len() as u64);
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
            let outcome = Outcome {
                proxies: counts.proxies,
                levels: counts.levels,
                slots,
                candidates,
                memory,
                stages: counts.stages,
                grazing: Grazing::default(),
            };
            let b_offset = step.sets.b_offset();
            let reported = self.read_pairs(counts.found, b_offset, wait).await?;
            let images = self.read_images(counts.found, wait).await?;
            return Ok((outcome, Reported::new(reported, &images)?));
        }
    }

    /// Returns the number of entries in the hash table of grid cells, and the size in bytes of the
    /// storage buffers other than `spheres` and `pairs`. Both are 0 before the buffers have been
    /// created.
    fn size(&self) -> (u64, u64) {
        let buffers = self.buffers.as_ref().map(|buffers| &buffers.buffers);
        buffers.map_or((0, 0), |buffers| (buffers.slots.into(), buffers.working))
    }

    fn ensure(
        &mut self,
        required: &RequiredCapacity,
        periodic: bool,
        limits: Limits,
    ) -> Result<(), Error> {
        // Buffers for periodic domains make a step in open space slower. Buffers for open space
        // cannot do a step in a periodic domain.
        let fit = |buffers: &mut CollisionBuffers| buffers.options.periodic == periodic;
        self.buffers.take_if(|buffers| !fit(buffers));
        let had = self
            .buffers
            .as_ref()
            .map_or(0, |buffers| buffers.options().spheres);
        if u64::from(had) > 16 * required.spheres + (1 << 16) {
            self.buffers = None;
        }
        let mut buffers = match self.buffers.take() {
            Some(buffers) => buffers,
            None => self.first(required.spheres, periodic)?,
        };
        buffers.options.max_candidates = limits.candidates;
        // If a step has too many time segments (parts of fast spheres' paths), carom raises the shortest
        // permitted length of a segment and runs the step again. A new step resets this length.
        // `required.segments` is 0 in the first run of a step, because the number of segments is not known
        // yet.
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
        let capacity = Capacity {
            spheres,
            // The first capacity for time segments (parts of fast spheres' paths) is small, because
            // in most worlds no sphere moves that far. The buffers grow on demand. In a periodic
            // domain, the capacity includes images (periodic copies) of spheres near a face.
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
            return Err(Error::device("carom has not created its buffers"));
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
    async fn read_pairs(
        &self,
        pairs: u64,
        b_offset: usize,
        wait: Wait,
    ) -> Result<Vec<ReportedPair>, Error> {
        let Some(buffers) = self.buffers.as_ref().filter(|_| pairs > 0) else {
            return Ok(Vec::new());
        };
        let mut reported = crate::memory::allocate(pairs as usize, "the pairs found")?;
        let add = |read: Vec<CaromCollision>| {
            reported.extend(read.iter().map(|pair| ReportedPair {
                a: pair.a,
                b: ((pair.b_and_grazing & !GRAZING) + b_offset as u32)
                    | pair.b_and_grazing & GRAZING,
            }));
        };
        self.read_in_parts(buffers.pairs(), pairs, wait, add)
            .await?;
        Ok(reported)
    }

    /// Reads the images (periodic copies) of the pairs' second spheres back from the GPU. The
    /// result is empty in open space.
    async fn read_images(&self, pairs: u64, wait: Wait) -> Result<Vec<[i32; 3]>, Error> {
        let periodic = self
            .buffers
            .as_ref()
            .and_then(|all| all.buffers.periodic.as_ref());
        let Some(periodic) = periodic.filter(|_| pairs > 0) else {
            return Ok(Vec::new());
        };
        let mut images = crate::memory::allocate(pairs as usize, "the images of the pairs")?;
        let add = |read: Vec<u32>| images.extend(read.into_iter().map(unpacked_image));
        self.read_in_parts(&periodic.pair_images, pairs, wait, add)
            .await?;
        Ok(images)
    }

    /// Reads the first `count` values of a GPU buffer, and passes them to `add` in order.
    async fn read_in_parts<T: Pod>(
        &self,
        buffer: &wgpu::Buffer,
        count: u64,
        wait: Wait,
        mut add: impl FnMut(Vec<T>),
    ) -> Result<(), Error> {
        let context = &self.pipeline.kernels.context;
        let whole = count * size_of::<T>() as u64;
        for from in (0..whole).step_by(READ_AT_ONCE as usize) {
            let part = (buffer, from, READ_AT_ONCE.min(whole - from));
            let submit = || {
                let encoder = encoder(&self.device);
                Ok(read_now::submit(
                    &self.device,
                    &self.queue,
                    encoder,
                    &[part],
                ))
            };
            let reading = context.scoped_async(submit).await?;
            self.finish_work(wait)?;
            let mut read = Vec::new();
            reading.take(&mut read).await?;
            add(read);
        }
        Ok(())
    }
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
