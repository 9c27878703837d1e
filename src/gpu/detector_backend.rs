//! The GPU backend of `Detector`, which runs on a device that carom creates itself.

use bytemuck::Pod;
use rayon::prelude::*;
use wgpu::DeviceType;

use super::pipeline::CollisionPipeline;
use super::self_test::{SelfTest, log_failure};
use crate::blocking::Wait;
use crate::clock::Instant;
use crate::cpu::{Buckets, sort_reported};
use crate::exact::{GRAZING, Grazing, ReportedPair, SettledPairs, Settling, decide_step, settle};
use crate::gpu::collide::buffers::{BufferCapacity, Buffers};
use crate::gpu::collide::collision_buffers::CollisionBuffers;
use crate::gpu::collide::options::BufferOptions;
use crate::gpu::device::context::Late;
use crate::gpu::device::shader::layout::CaromCollision;
use crate::gpu::results::capacity::Capacity;
use crate::gpu::results::decode::{out_of_range, unfinished};
use crate::gpu::results::pair_list::unpacked_image;
use crate::gpu::results::read_now;
use crate::gpu::results::status::Status;
use crate::gpu::results::summary::StepSummary;
use crate::limits::Limits;
use crate::memory::{LIST, resized};
use crate::reuse::ReusedVec;
use crate::statistics::StepOutcome;
use crate::step::CheckedStep;
use crate::threads;
use crate::{Collision, Error};

pub(crate) struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    adapter: String,
    pub(super) pipeline: CollisionPipeline,
    buffers: Option<CollisionBuffers>,
    /// At most [`READ_AT_ONCE`] bytes. Kept, because some devices take longer to create it
    /// than to fill it.
    staging: Option<wgpu::Buffer>,
    /// Not on a software adapter, where the host is faster, and not if the device has not
    /// passed its self-test.
    pub(super) decides: bool,
    /// Whether the host decides some pairs again, to find errors of the driver.
    checks: bool,
    /// As the device has reported them, if the host decides.
    reported: ReusedVec<ReportedPair>,
    /// Empty in open space.
    reported_images: ReusedVec<[i32; 3]>,
    buckets: Buckets<ReportedPair>,
    /// Used if the device sends short records.
    row_ends: ReusedVec<u32>,
    /// Number of pairs that are copied together with the counts, before their number is known.
    ahead: usize,
    /// `None` derives a capacity from the number of spheres.
    first: [Option<u64>; 2],
    /// It stays true if the future of a step is dropped early.
    at_work: bool,
    #[cfg(test)]
    pub(super) noise: Option<u64>,
    /// As a driver with errors.
    #[cfg(test)]
    spoils: bool,
    /// The bytes read back by each submission.
    #[cfg(test)]
    traffic: Vec<usize>,
}

/// Every device can create a buffer of this size.
const READ_AT_ONCE: usize = 1 << 26;
const FIRST_AHEAD: usize = 1 << 12;
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

/// wgpu panics where there is no such thing as a GPU: outside of pages and workers, as in Node.js.
#[cfg(all(target_arch = "wasm32", feature = "webgpu"))]
fn is_browser() -> bool {
    use wgpu::web_sys::{js_sys, wasm_bindgen::JsValue};
    let global = js_sys::global();
    let has = |name| js_sys::Reflect::has(&global, &JsValue::from_str(name)) == Ok(true);
    has("Window") || has("WorkerGlobalScope")
}

/// Unknown without the crates of the feature `webgpu`.
#[cfg(all(target_arch = "wasm32", not(feature = "webgpu")))]
fn is_browser() -> bool {
    true
}

/// Shared by all detectors and never dropped: the drivers would be unloaded with the last
/// instance, and NVIDIA's (580.159 on Linux) fails after 30 loads.
#[cfg(not(target_arch = "wasm32"))]
fn instance() -> &'static wgpu::Instance {
    static INSTANCE: std::sync::OnceLock<wgpu::Instance> = std::sync::OnceLock::new();
    INSTANCE.get_or_init(new_instance)
}

/// An instance in a browser belongs to one thread.
#[cfg(target_arch = "wasm32")]
fn instance() -> wgpu::Instance {
    new_instance()
}

#[cfg(not(target_arch = "wasm32"))]
async fn best_adapter() -> Result<wgpu::Adapter, Error> {
    let adapters = instance().enumerate_adapters(wgpu::Backends::all()).await;
    let rank = |adapter: &wgpu::Adapter| rank(adapter.get_info().device_type);
    let best = adapters.into_iter().min_by_key(rank);
    best.ok_or_else(|| Error::no_adapter("no driver offers one"))
}

/// A browser offers one adapter, and may be asked for the faster of two.
#[cfg(target_arch = "wasm32")]
async fn best_adapter() -> Result<wgpu::Adapter, Error> {
    if !is_browser() {
        return Err(Error::no_adapter("there is no browser"));
    }
    let options = wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::HighPerformance,
        ..wgpu::RequestAdapterOptions::default()
    };
    let offered = instance().request_adapter(&options).await;
    offered.map_err(|_| Error::no_adapter("the browser offers none"))
}

impl Gpu {
    pub(crate) async fn new(hardware: bool, checks: bool) -> Result<Self, Error> {
        let adapter = best_adapter().await?;
        let info = adapter.get_info();
        // A browser says of an adapter only whether it is one in software.
        let least = match info.backend {
            wgpu::Backend::BrowserWebGpu => DeviceType::Other,
            _ => DeviceType::VirtualGpu,
        };
        if hardware && rank(info.device_type) > rank(least) {
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
        let pipeline = CollisionPipeline::new_async(&device).await?;
        let mut gpu = Self {
            adapter: format!("{} ({})", info.name, info.backend),
            decides: !pipeline.kernels.context.software,
            checks: checks || cfg!(debug_assertions),
            pipeline,
            device,
            queue,
            buffers: None,
            staging: None,
            reported: ReusedVec::default(),
            reported_images: ReusedVec::default(),
            buckets: Buckets::default(),
            row_ends: ReusedVec::default(),
            ahead: FIRST_AHEAD,
            first: [None; 2],
            at_work: false,
            #[cfg(test)]
            noise: None,
            #[cfg(test)]
            spoils: false,
            #[cfg(test)]
            traffic: Vec::new(),
        };
        if gpu.decides {
            gpu.decides = gpu.passes_self_test().await?;
        }
        Ok(gpu)
    }

    async fn passes_self_test(&self) -> Result<bool, Error> {
        let kernels = &self.pipeline.kernels;
        let submit = || {
            let test = SelfTest::new(kernels)?;
            let mut encoder = encoder(&self.device);
            test.record(&mut encoder);
            let parts = test.parts();
            let staging = read_now::staging(&self.device, size_of_parts(&parts));
            let reading = read_now::submit(&self.queue, encoder, &parts, staging);
            Ok((test, reading))
        };
        let (test, reading) = kernels.context.scoped_async(submit).await?;
        self.finish_work(Wait::Await)?;
        let passed = test.passes(&reading.bytes().await?);
        if !passed {
            log_failure(&self.adapter);
        }
        kernels.trust.end(Some(passed));
        Ok(passed)
    }

    pub(crate) fn adapter(&self) -> &str {
        &self.adapter
    }

    /// Fills `pairs` and, in a periodic domain, `images`.
    pub(crate) async fn run(
        &mut self,
        step: CheckedStep<'_>,
        limits: Limits,
        wait: Wait,
        pairs: &mut Vec<Collision>,
        images: &mut Vec<[i32; 3]>,
    ) -> Result<StepOutcome, Error> {
        loop {
            if self.at_work {
                // The future of an earlier step was dropped, and the device may still use the buffers.
                self.buffers = None;
            }
            self.at_work = true;
            let outcome = self.attempts(step, limits, wait, (pairs, images)).await;
            self.at_work = false;
            let mut outcome = outcome?;
            let clock = Instant::now();
            let count = self.reported.len().max(pairs.len());
            let settled = threads::run(count, || self.decide(&step, pairs, images))?;
            if settled.wrong {
                log_failure(&self.adapter);
                self.pipeline.kernels.trust.end(Some(false));
                self.decides = false;
                self.buffers = None;
                continue;
            }
            outcome.grazing = settled.grazing;
            outcome.stages.push(("decide", clock.elapsed()));
            return Ok(outcome);
        }
    }

    fn decide(
        &mut self,
        step: &CheckedStep<'_>,
        pairs: &mut Vec<Collision>,
        images: &mut Vec<[i32; 3]>,
    ) -> Result<SettledPairs, Error> {
        if self.decides {
            return self.settle(step, pairs, images);
        }
        if self.reported_images.is_empty() {
            sort_reported(&mut self.reported, &mut self.buckets)?;
        }
        let reported = (&mut *self.reported, &**self.reported_images);
        Ok(SettledPairs {
            grazing: decide_step(step, reported, pairs, images)?,
            wrong: false,
        })
    }

    fn settle(
        &mut self,
        step: &CheckedStep<'_>,
        pairs: &mut Vec<Collision>,
        images: &mut Vec<[i32; 3]>,
    ) -> Result<SettledPairs, Error> {
        #[cfg(test)]
        for pair in pairs.iter_mut().filter(|_| self.spoils) {
            pair.depth += 1.0;
        }
        let b_offset = step.sets.b_offset();
        let sphere = |index: usize| step.spheres.get(index).copied();
        let spheres = |a: u32, b: u32| Some([sphere(a as usize)?, sphere(b as usize + b_offset)?]);
        let settling = Settling {
            domain: &step.domain,
            dt: step.dt,
            times: 1.0,
            checked: self.checks,
        };
        settle(spheres, &settling, pairs, images)
    }

    /// Repeats a step with larger buffers until its pairs and segments fit.
    async fn attempts(
        &mut self,
        step: CheckedStep<'_>,
        limits: Limits,
        wait: Wait,
        (pairs, images): (&mut Vec<Collision>, &mut Vec<[i32; 3]>),
    ) -> Result<StepOutcome, Error> {
        pairs.clear();
        images.clear();
        self.reported.empty();
        self.reported_images.empty();
        if step.spheres.is_empty() {
            return Ok(StepOutcome::default());
        }
        let mut required = Capacity::for_spheres(step.spheres.len() as u64);
        let periodic = !step.domain.is_open();
        loop {
            self.ensure(&required, periodic, limits)?;
            let (counts, arrived) = self.step(step, wait).await?;
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
            // Bounds the memory, at twice the caller's limit or more. The exact
            // limit applies after the host has removed repeats and pairs that do not
            // touch.
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
            let count = counts.pairs as usize;
            // So that a list that grows a little still arrives with its counts.
            self.ahead = count + count / 32 + 64;
            let in_cell = if periodic { count } else { 0 };
            if self.decides {
                let lists = (
                    resized(pairs, count, LIST)?,
                    resized(images, in_cell, LIST)?,
                );
                let form = arrived.form;
                if !form.short {
                    let convert = each(|record: [u32; 3]| unpacked(record));
                    self.receive(arrived, lists, convert, wait).await?;
                    return Ok(outcome);
                }
                let mut ends = std::mem::take(&mut self.row_ends);
                let rows = ends.enough(form.rows, "the rows of the pairs")?;
                let sent = &arrived.view[arrived.counts..];
                converted(rows, 0, (sent, size_of::<u32>()), &each(|end: u32| end))?;
                let received = self.receive(arrived, lists, in_rows(rows), wait).await;
                self.row_ends = ends;
                received?;
                return Ok(outcome);
            }
            let b_offset = step.sets.b_offset() as u32;
            let convert = |pair: CaromCollision| ReportedPair {
                a: pair.a,
                b: ((pair.b_and_grazing & !GRAZING) + b_offset) | pair.b_and_grazing & GRAZING,
            };
            let mut reported = std::mem::take(&mut self.reported);
            let mut reported_images = std::mem::take(&mut self.reported_images);
            let what = "the images of the pairs";
            let lists = (
                reported.enough(count, "the pairs found")?,
                reported_images.enough(in_cell, what)?,
            );
            self.receive(arrived, lists, each(convert), wait).await?;
            reported.truncate(count);
            reported_images.truncate(in_cell);
            self.reported = reported;
            self.reported_images = reported_images;
            return Ok(outcome);
        }
    }

    /// Returns the number of slots, and the bytes of the storage buffers other than
    /// `spheres` and `pairs`.
    fn size(&self) -> (u64, u64) {
        let buffers = self.buffers.as_ref().map(|buffers| &buffers.buffers);
        buffers.map_or((0, 0), |buffers| (buffers.slots.into(), buffers.working))
    }

    fn ensure(&mut self, required: &Capacity, periodic: bool, limits: Limits) -> Result<(), Error> {
        // Buffers for periodic domains make a step in open space slower.
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
        // A new step, in whose first run `required.segments` is 0, resets the shortest length.
        if required.segments == 0 {
            buffers.shortest_segment = f32::MIN_POSITIVE;
        }
        let (capacity, shortest_segment) = buffers.grown(required)?;
        if capacity != buffers.buffers.capacity {
            let options = buffers.options.clone();
            // So that the device need not hold both.
            drop(buffers);
            buffers = self
                .pipeline
                .with_capacity(&options, capacity, &Late::default())?;
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
            // In most worlds, no sphere moves that far. In a periodic domain, the
            // capacity includes images near a face.
            segments: segments
                .unwrap_or(spheres / if periodic { 4 } else { 64 } + 1024)
                .min(room),
            pairs: pairs
                .unwrap_or(spheres + 1024)
                .min(Buffers::most_pairs(limits)),
            walls: 0,
            triangles: 0,
            mesh_segments: 0,
            mesh_pairs: 0,
            wall_collisions: 0,
        };
        let options = BufferOptions {
            recordings: 2,
            decided: self.decides,
            rows: self.decides,
            timestamp_period: Some(self.queue.get_timestamp_period()),
            periodic,
            ..BufferOptions::new(spheres as u32)
        };
        self.pipeline
            .with_capacity(&options, capacity, &Late::default())
    }

    async fn step(
        &mut self,
        step: CheckedStep<'_>,
        wait: Wait,
    ) -> Result<(StepSummary, Arrived), Error> {
        let Some(buffers) = &mut self.buffers else {
            return Err(no_buffers());
        };
        let context = &self.pipeline.kernels.context;
        let (kept, ahead) = (self.staging.take(), self.ahead);
        let form = Form::new(self.decides, ahead, step.spheres.len());
        buffers.options.short_records = form.short;
        let submit = || {
            let mut encoder = encoder(&self.device);
            buffers.record_checked(&mut encoder, step)?;
            let (mut parts, decoder) = buffers.summary_parts()?;
            let counts = size_of_parts(&parts);
            if let Some(table) = &buffers.buffers.row_ends
                && form.rows > 0
            {
                parts.push((&table.levels[0].buffer, 0, bytes_of::<u32>(form.rows)));
            }
            let images = buffers.buffers.periodic.as_ref();
            let most = READ_AT_ONCE - form.rows * size_of::<u32>();
            let most = most / (form.record + size_of::<u32>());
            let room = buffers.buffers.capacity.pairs as usize;
            let pairs = ahead.min(most).min(room);
            let bytes = (form.record * pairs) as u64;
            parts.push((&buffers.buffers.pairs, 0, bytes));
            if let Some(images) = images {
                parts.push((&images.pair_images, 0, bytes_of::<u32>(pairs)));
            }
            let size = size_of_parts(&parts);
            let new = || read_now::staging(&self.device, size.next_power_of_two());
            let staging = kept.filter(|kept| kept.size() >= size).unwrap_or_else(new);
            let reading = read_now::submit(&self.queue, encoder, &parts, staging);
            Ok((reading, decoder, counts as usize, pairs))
        };
        let (reading, decoder, counts, pairs) = context.scoped_async(submit).await?;
        self.finish_work(wait)?;
        let view = reading.bytes().await?;
        let summary = decoder.decode(&view)?;
        #[cfg(test)]
        self.traffic.push(view.len());
        let arrived = Arrived {
            reading,
            view,
            counts,
            form,
            pairs,
        };
        Ok((summary, arrived))
    }

    /// With [`Wait::Block`], submitted work and its callbacks have completed when this returns.
    fn finish_work(&self, wait: Wait) -> Result<(), Error> {
        match wait {
            Wait::Block => self.pipeline.kernels.context.scoped(|| poll(&self.device)),
            Wait::Await => poll_elsewhere(&self.device),
        }
    }

    /// The lists are as long as those of the device. What has not arrived with the counts
    /// is read back.
    async fn receive<R: Send>(
        &mut self,
        arrived: Arrived,
        (pairs, images): (&mut [R], &mut [[i32; 3]]),
        convert: impl Fn(usize, &[u8], &mut [R]) + Sync,
        wait: Wait,
    ) -> Result<(), Error> {
        let Arrived {
            reading,
            view,
            counts,
            form: Form { record, rows, .. },
            pairs: ahead,
        } = arrived;
        let first = ahead.min(pairs.len());
        // In a browser, other threads may not use the view itself.
        let bytes: &[u8] = &view;
        let from = counts + rows * size_of::<u32>();
        let records = (&bytes[from..], record);
        converted(&mut pairs[..first], 0, records, &convert)?;
        let first_images = first.min(images.len());
        let packed = bytes.get(from + ahead * record..).unwrap_or_default();
        let packed = (packed, size_of::<u32>());
        converted(
            &mut images[..first_images],
            0,
            packed,
            &each(unpacked_image),
        )?;
        drop(view);
        let context = &self.pipeline.kernels.context;
        self.staging = Some(context.scoped(|| Ok(reading.unmapped()))?);
        let Some(buffers) = &self.buffers else {
            return Err(no_buffers());
        };
        let (list, periodic) = (buffers.pairs().clone(), &buffers.buffers.periodic);
        let of_images = periodic
            .as_ref()
            .map(|periodic| periodic.pair_images.clone());
        let rest = &mut pairs[first..];
        self.read((&list, record), first, rest, convert, wait)
            .await?;
        if let Some(list) = of_images {
            let (list, rest) = ((&list, size_of::<u32>()), &mut images[first_images..]);
            self.read(list, first, rest, each(unpacked_image), wait)
                .await?;
        }
        Ok(())
    }

    /// `record` is the size of an entry in bytes.
    async fn read<R: Send>(
        &mut self,
        (buffer, record): (&wgpu::Buffer, usize),
        mut first: usize,
        all: &mut [R],
        convert: impl Fn(usize, &[u8], &mut [R]) + Sync,
        wait: Wait,
    ) -> Result<(), Error> {
        let context = &self.pipeline.kernels.context;
        for part in all.chunks_mut(READ_AT_ONCE / record) {
            let (from, size) = ((first * record) as u64, (part.len() * record) as u64);
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
            #[cfg(test)]
            self.traffic.push(view.len());
            converted(part, first, (&view, record), &convert)?;
            drop(view);
            self.staging = Some(context.scoped(|| Ok(reading.unmapped()))?);
            first += part.len();
        }
        Ok(())
    }
}

/// How the pairs of a step arrive.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// Size of a pair in bytes.
    record: usize,
    /// Without a. Then the ends of the rows follow the counts.
    short: bool,
    /// Number of these ends.
    rows: usize,
}

impl Form {
    fn new(decides: bool, pairs: usize, spheres: usize) -> Self {
        let short = decides && pairs > spheres && spheres <= READ_AT_ONCE / 8;
        Self {
            record: match (decides, short) {
                (false, _) => size_of::<CaromCollision>(),
                (true, false) => size_of::<[u32; 3]>(),
                (true, true) => size_of::<[u32; 2]>(),
            },
            short,
            rows: if short { spheres } else { 0 },
        }
    }
}

/// The counts of a step, and the first pairs, in a mapped buffer.
struct Arrived {
    reading: read_now::Reading,
    view: wgpu::BufferView,
    /// Size in bytes.
    counts: usize,
    form: Form,
    /// Even if the list has fewer. In a periodic domain, their images follow.
    pairs: usize,
}

fn bytes_of<T>(count: usize) -> u64 {
    (count * size_of::<T>()) as u64
}

fn size_of_parts(parts: &[read_now::ReadRange<'_>]) -> u64 {
    parts.iter().map(|&(_, _, size)| size).sum()
}

/// `records` has the size of an entry in bytes. `convert` also gets the index of its first entry.
fn converted<R: Send>(
    all: &mut [R],
    first: usize,
    (records, size): (&[u8], usize),
    convert: &(impl Fn(usize, &[u8], &mut [R]) + Sync),
) -> Result<(), Error> {
    threads::run(all.len(), || {
        let parts = all.par_chunks_mut(TASK);
        let parts = parts.zip(records.par_chunks(TASK * size)).enumerate();
        parts.for_each(|(task, (part, records))| convert(first + task * TASK, records, part));
        Ok(())
    })
}

fn each<T: Pod, R>(convert: impl Fn(T) -> R) -> impl Fn(usize, &[u8], &mut [R]) {
    move |_, records, part| {
        for (value, read) in part.iter_mut().zip(read_now::values(records)) {
            *value = convert(read);
        }
    }
}

/// Twin of `value_of` in `shaders/reduce/parts/row_order.wgsl`.
fn unpacked([a, b, value]: [u32; 3]) -> Collision {
    let deep = value >> 31 == 1;
    let [toi, depth] = if deep {
        [0, value << 1 >> 1]
    } else {
        [value, 0]
    }
    .map(f32::from_bits);
    Collision { a, b, toi, depth }
}

/// Unpacks short records.
fn in_rows(ends: &[u32]) -> impl Fn(usize, &[u8], &mut [Collision]) {
    move |first, records, part| {
        let mut a = ends.partition_point(|&end| end as usize <= first);
        let records = read_now::values::<[u32; 2]>(records);
        for (index, (pair, [b, value])) in (first..).zip(part.iter_mut().zip(records)) {
            while ends.get(a).is_some_and(|&end| end as usize <= index) {
                a += 1;
            }
            *pair = unpacked([a as u32, b, value]);
        }
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

/// A browser polls the device itself.
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
    /// As on hardware.
    pub(crate) fn deciding(mut self) -> Self {
        let passed = crate::blocking::block_on(self.passes_self_test());
        assert_eq!(passed, Ok(true));
        self.decides = true;
        self
    }

    pub(crate) fn with_first_capacities(
        mut self,
        pairs: Option<u64>,
        segments: Option<u64>,
    ) -> Self {
        self.first = [segments, pairs];
        self
    }

    /// Lets a test lower the limits that carom respects, for new buffers.
    pub(crate) fn limits(&mut self) -> &mut wgpu::Limits {
        self.buffers = None;
        let kernels = std::sync::Arc::get_mut(&mut self.pipeline.kernels);
        match kernels.and_then(|kernels| std::sync::Arc::get_mut(&mut kernels.context)) {
            Some(context) => &mut context.limits,
            None => panic!("the pipeline is in use"),
        }
    }

    /// To show that no shader relies on memory being zero.
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
