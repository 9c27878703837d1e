//! The GPU backend of `Detector`, which runs on a device that carom creates itself.

use std::collections::VecDeque;
use std::ops::Range;

use bytemuck::Pod;
use rayon::prelude::*;
use wgpu::DeviceType;

use super::pipeline::CollisionPipeline;
use super::self_test::{SelfTest, log_failure};
use crate::blocking::Wait;
use crate::cpu::{Buckets, StageClock, sort_reported};
use crate::exact::{
    GRAZING, Grazing, Listing, ReportedPair, SettledPairs, Settling, decide_step, settle,
};
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
use crate::step::{CheckedStep, UncheckedStep};
use crate::threads;
use crate::{Collision, Error};

pub(crate) struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    adapter: String,
    pub(super) pipeline: CollisionPipeline,
    buffers: Option<CollisionBuffers>,
    /// At most [`MOST_PARTS`]. Kept, because some devices take longer to create them than to
    /// fill them.
    staging: Vec<wgpu::Buffer>,
    /// The bytes of the pairs that are read back together.
    at_once: usize,
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

/// The host unpacks a part of so many bytes while the next one arrives.
const READ_AT_ONCE: usize = 1 << 22;
/// Most parts on their way at the same time.
const MOST_PARTS: usize = 32;
/// So that every device can create a staging buffer for the ends of the rows.
const MOST_ROWS: usize = 1 << 23;
const FIRST_AHEAD: usize = 1 << 12;
/// Pairs that a thread unpacks at once.
const TASK: usize = 2048;
/// In bytes.
const LARGEST_RECORD: usize = size_of::<CaromCollision>();

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
            staging: Vec::new(),
            at_once: READ_AT_ONCE,
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
        self.finish_work(&reading, Wait::Await)?;
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
        step: UncheckedStep<'_>,
        limits: Limits,
        wait: Wait,
        pairs: &mut Vec<Collision>,
        images: &mut Vec<[i32; 3]>,
    ) -> Result<StepOutcome, Error> {
        if step.spheres.is_empty() || !step.has_pairs() {
            pairs.clear();
            images.clear();
            step.check()?;
            return Ok(StepOutcome::default());
        }
        loop {
            if self.at_work {
                // The future of an earlier step was dropped, and the device may still use the buffers.
                self.buffers = None;
            }
            self.at_work = true;
            let attempted = self.attempts(step, limits, wait, (pairs, images)).await;
            self.at_work = false;
            let Attempted {
                step,
                mut outcome,
                mut clock,
                listing,
            } = attempted?;
            let count = match listing.is_settled() && !self.checks {
                true if self.decides => 0,
                _ => self.reported.len().max(pairs.len()),
            };
            let work = || self.decide(&step, listing, pairs, images);
            let settled = threads::run(count, work)?;
            if settled.wrong {
                log_failure(&self.adapter);
                self.pipeline.kernels.trust.end(Some(false));
                self.decides = false;
                self.buffers = None;
                continue;
            }
            outcome.grazing = settled.grazing;
            clock.lap("decide");
            outcome.stages = clock.finish();
            return Ok(outcome);
        }
    }

    fn decide(
        &mut self,
        step: &CheckedStep<'_>,
        listing: Listing,
        pairs: &mut Vec<Collision>,
        images: &mut Vec<[i32; 3]>,
    ) -> Result<SettledPairs, Error> {
        if self.decides {
            return self.settle(step, listing, pairs, images);
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
        listing: Listing,
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
            approaching: false,
        };
        settle(spheres, &settling, pairs, images, Some(listing))
    }

    /// Repeats a step with larger buffers until its pairs and segments fit.
    async fn attempts<'a>(
        &mut self,
        step: UncheckedStep<'a>,
        limits: Limits,
        wait: Wait,
        (pairs, images): (&mut Vec<Collision>, &mut Vec<[i32; 3]>),
    ) -> Result<Attempted<'a>, Error> {
        self.reported.empty();
        self.reported_images.empty();
        let mut required = Capacity::for_spheres(step.spheres.len() as u64);
        let periodic = !step.domain.is_open();
        loop {
            self.ensure(&required, periodic, limits)?;
            let Stepped {
                step,
                counts,
                arrived,
                mut clock,
            } = self.step(step, wait).await?;
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
                stages: Vec::new(),
                grazing: Grazing::default(),
            };
            clock.add(counts.stages);
            let count = counts.pairs as usize;
            // So that a list that grows a little still arrives with its counts.
            self.ahead = count + count / 32 + 64;
            let in_cell = if periodic { count } else { 0 };
            if self.decides {
                // What earlier steps left in the lists is overwritten.
                let lists = (
                    resized(pairs, count, LIST)?,
                    resized(images, in_cell, LIST)?,
                );
                let mut ends = std::mem::take(&mut self.row_ends);
                let rows = ends.enough(arrived.form.rows, "the rows of the pairs")?;
                let sent = &arrived.view[arrived.counts..];
                converted(rows, 0, (sent, size_of::<u32>()), &each(|end: u32| end))?;
                let convert = decided(arrived.form.short.then_some(&*rows));
                let listing = self.receive(arrived, lists, convert, wait).await;
                self.row_ends = ends;
                clock.lap("unpack");
                return Ok(Attempted {
                    step,
                    outcome,
                    clock,
                    listing: listing?,
                });
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
            let convert = |at, records: &[u8], part: &mut [_], _: &[[i32; 3]]| {
                each(convert)(at, records, part)
            };
            self.receive(arrived, lists, convert, wait).await?;
            reported.truncate(count);
            reported_images.truncate(in_cell);
            self.reported = reported;
            self.reported_images = reported_images;
            clock.lap("unpack");
            return Ok(Attempted {
                step,
                outcome,
                clock,
                listing: Listing::default(),
            });
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
            self.staging.clear();
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
            compact: self.decides,
            timestamp_period: Some(self.queue.get_timestamp_period()),
            periodic,
            ..BufferOptions::new(spheres as u32)
        };
        self.pipeline
            .with_capacity(&options, capacity, &Late::default())
    }

    async fn step<'a>(
        &mut self,
        step: UncheckedStep<'a>,
        wait: Wait,
    ) -> Result<Stepped<'a>, Error> {
        let Some(buffers) = &mut self.buffers else {
            return Err(no_buffers());
        };
        let mut clock = StageClock::start(Vec::new());
        let form = Form::new(self.decides, self.ahead, step.spheres.len());
        buffers.options.short_records = form.short;
        let submit = || {
            let mut encoder = encoder(&self.device);
            let step = buffers.record_unchecked(&mut encoder, step)?;
            clock.lap("upload");
            let (mut head, decoder) = buffers.summary_parts()?;
            let counts = size_of_parts(&head) as usize;
            if let Some(table) = &buffers.buffers.row_ends
                && form.rows > 0
            {
                head.push((&table.levels[0].buffer, 0, bytes_of::<u32>(form.rows)));
            }
            let ahead = self.ahead.min(buffers.buffers.capacity.pairs as usize);
            let mut list = DeviceList {
                device: &self.device,
                queue: &self.queue,
                buffers: &buffers.buffers,
                record: form.record,
                at_once: self.at_once,
                kept: &mut self.staging,
            };
            let mut parts = ListParts::default();
            list.submit(encoder, head, ahead, &mut parts);
            list.ask(ahead, &mut parts);
            Ok((step, parts, decoder, counts))
        };
        let context = &self.pipeline.kernels.context;
        let (step, parts, decoder, counts) = context.scoped_async(submit).await?;
        clock.lap("submit");
        let Some(first) = parts.on_way.front() else {
            return Err(no_buffers());
        };
        let view = self.arrival(&first.reading, wait).await?;
        let counts_read = decoder.decode(&view)?;
        clock.lap("wait");
        let arrived = Arrived {
            parts,
            view,
            counts,
            form,
        };
        Ok(Stepped {
            step,
            counts: counts_read,
            arrived,
            clock,
        })
    }

    async fn arrival(
        &mut self,
        reading: &read_now::Reading,
        wait: Wait,
    ) -> Result<wgpu::BufferView, Error> {
        self.finish_work(reading, wait)?;
        let view = reading.bytes().await?;
        #[cfg(test)]
        self.traffic.push(view.len());
        Ok(view)
    }

    /// With [`Wait::Block`], the submission of the reading and its callbacks have completed when
    /// this returns.
    fn finish_work(&self, reading: &read_now::Reading, wait: Wait) -> Result<(), Error> {
        let until = reading.submission.clone();
        match wait {
            Wait::Block => {
                let context = &self.pipeline.kernels.context;
                context.scoped(|| poll(&self.device, until))
            }
            Wait::Await => poll_elsewhere(&self.device, until),
        }
    }

    /// The lists are as long as those of the device. `convert` gets the place of the first pair of
    /// a part, and the images of all of its pairs.
    async fn receive<R: Send>(
        &mut self,
        arrived: Arrived,
        (pairs, images): (&mut [R], &mut [[i32; 3]]),
        convert: impl Fn(usize, &[u8], &mut [R], &[[i32; 3]]) -> ListingResult + Sync,
        wait: Wait,
    ) -> Result<Listing, Error> {
        let Arrived {
            mut parts,
            view,
            counts,
            form: Form { record, rows, .. },
        } = arrived;
        let mut first = Some((view, counts + rows * size_of::<u32>()));
        let (count, mut listing) = (pairs.len(), Listing::default());
        loop {
            self.ask(count, record, &mut parts).await?;
            let Some(ListPart {
                reading,
                pairs: part,
            }) = parts.on_way.pop_front()
            else {
                return Ok(listing);
            };
            let (view, head) = match first.take() {
                Some(first) => first,
                // The list is shorter than the last one.
                None if part.start >= count => {
                    self.keep(reading)?;
                    continue;
                }
                None => (self.arrival(&reading, wait).await?, 0),
            };
            let (start, end) = (part.start, part.end.min(count));
            // In a browser, other threads may not use the view itself.
            let bytes: &[u8] = &view;
            let (records, packed) = bytes[head..].split_at(record * part.len());
            if let Some(images) = images.get_mut(start..end) {
                let packed = (packed, size_of::<u32>());
                converted(images, start, packed, &each(unpacked_image))?;
            }
            let images = &*images;
            let convert = |at: usize, records: &[u8], pairs: &mut [R]| {
                let images = images.get(at..at + pairs.len()).unwrap_or_default();
                convert(at, records, pairs, images)
            };
            let next = converted(&mut pairs[start..end], start, (records, record), &convert)?;
            listing = listing.then(next)?;
            drop(view);
            self.keep(reading)?;
        }
    }

    /// Submits the copies of further pairs.
    async fn ask(
        &mut self,
        count: usize,
        record: usize,
        parts: &mut ListParts,
    ) -> Result<(), Error> {
        if parts.asked >= count {
            return Ok(());
        }
        let Some(buffers) = &self.buffers else {
            return Err(no_buffers());
        };
        let mut list = DeviceList {
            device: &self.device,
            queue: &self.queue,
            buffers: &buffers.buffers,
            record,
            at_once: self.at_once,
            kept: &mut self.staging,
        };
        let context = &self.pipeline.kernels.context;
        let ask = || {
            list.ask(count, parts);
            Ok(())
        };
        context.scoped_async(ask).await
    }

    fn keep(&mut self, reading: read_now::Reading) -> Result<(), Error> {
        let context = &self.pipeline.kernels.context;
        self.staging
            .push(context.scoped(|| Ok(reading.unmapped()))?);
        if self.staging.len() > MOST_PARTS {
            self.staging.sort_by_key(wgpu::Buffer::size);
            self.staging.remove(0);
        }
        Ok(())
    }
}

/// The list of pairs on the device, which arrives in parts.
struct DeviceList<'a> {
    device: &'a wgpu::Device,
    queue: &'a wgpu::Queue,
    buffers: &'a Buffers,
    /// Size of a pair in bytes.
    record: usize,
    at_once: usize,
    /// Staging buffers.
    kept: &'a mut Vec<wgpu::Buffer>,
}

impl DeviceList<'_> {
    /// Submits the copy of a further part of the first `count` pairs, and in a periodic domain of
    /// their images. `head` comes before them.
    fn submit(
        &mut self,
        encoder: wgpu::CommandEncoder,
        head: Vec<read_now::ReadRange<'_>>,
        count: usize,
        parts: &mut ListParts,
    ) {
        let images = self.buffers.periodic.as_ref();
        let images = images.map(|periodic| (&periodic.pair_images, size_of::<u32>()));
        let each = self.record + images.map_or(0, |(_, size)| size);
        let end = count.min(parts.asked + (self.at_once / each).max(1));
        let pairs = parts.asked..end;
        let mut ranges = head;
        for (buffer, size) in [(&self.buffers.pairs, self.record)]
            .into_iter()
            .chain(images)
        {
            ranges.push((
                buffer,
                (size * pairs.start) as u64,
                (size * pairs.len()) as u64,
            ));
        }
        let size = size_of_parts(&ranges);
        let fit = self.kept.iter().enumerate();
        let fit = fit.filter(|(_, kept)| kept.size() >= size);
        let staging = match fit.min_by_key(|(_, kept)| kept.size()) {
            Some((number, _)) => self.kept.swap_remove(number),
            None => read_now::staging(self.device, size.next_power_of_two()),
        };
        parts.asked = end;
        parts.on_way.push_back(ListPart {
            reading: read_now::submit(self.queue, encoder, &ranges, staging),
            pairs,
        });
    }

    /// Up to the pair `count`.
    fn ask(&mut self, count: usize, parts: &mut ListParts) {
        while parts.asked < count && parts.on_way.len() < MOST_PARTS {
            self.submit(encoder(self.device), Vec::new(), count, parts);
        }
    }
}

/// Parts of a list that have been submitted.
#[derive(Default)]
struct ListParts {
    on_way: VecDeque<ListPart>,
    /// Number of pairs in all parts so far.
    asked: usize,
}

struct ListPart {
    reading: read_now::Reading,
    /// Their places. The list may have fewer.
    pairs: Range<usize>,
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
        let short = decides && pairs > spheres && spheres <= MOST_ROWS;
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

struct Stepped<'a> {
    step: CheckedStep<'a>,
    counts: StepSummary,
    arrived: Arrived,
    clock: StageClock,
}

/// A step whose list has arrived.
struct Attempted<'a> {
    step: CheckedStep<'a>,
    outcome: StepOutcome,
    clock: StageClock,
    listing: Listing,
}

/// The first part of a list, in a mapped buffer, after the counts of the step.
struct Arrived {
    parts: ListParts,
    view: wgpu::BufferView,
    /// Size in bytes.
    counts: usize,
    form: Form,
}

fn bytes_of<T>(count: usize) -> u64 {
    (count * size_of::<T>()) as u64
}

fn size_of_parts(parts: &[read_now::ReadRange<'_>]) -> u64 {
    parts.iter().map(|&(_, _, size)| size).sum()
}

type ListingResult = Result<Listing, Error>;

/// `records` has the size of an entry in bytes. `convert` also gets the index of its first entry.
fn converted<R: Send>(
    all: &mut [R],
    first: usize,
    (records, size): (&[u8], usize),
    convert: &(impl Fn(usize, &[u8], &mut [R]) -> ListingResult + Sync),
) -> ListingResult {
    threads::run(all.len(), || {
        let parts = all.par_chunks_mut(TASK);
        let parts = parts.zip(records.par_chunks(TASK * size)).enumerate();
        let listed = parts.map(|(task, (part, records))| {
            // Some drivers map memory that the host does not cache. Small loads from there take much
            // longer than this copy.
            let mut copy = [0; TASK * LARGEST_RECORD];
            let copy = &mut copy[..records.len()];
            copy.copy_from_slice(records);
            convert(first + task * TASK, copy, part)
        });
        listed.try_reduce(Listing::default, Listing::then)
    })
}

fn each<T: Pod, R>(convert: impl Fn(T) -> R) -> impl Fn(usize, &[u8], &mut [R]) -> ListingResult {
    move |_, records, part| {
        for (value, read) in part.iter_mut().zip(read_now::values(records)) {
            *value = convert(read);
        }
        Ok(Listing::default())
    }
}

/// Twin of `value_of` in `shaders/reduce/parts/row_items.wgsl`.
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

/// Unpacks records of decided pairs. Short ones need the ends of the rows.
fn decided(
    ends: Option<&[u32]>,
) -> impl Fn(usize, &[u8], &mut [Collision], &[[i32; 3]]) -> ListingResult {
    move |first, records, part, images| {
        let Some(ends) = ends else {
            each(unpacked)(first, records, part)?;
            return Listing::of(first, part, images);
        };
        let mut a = ends.partition_point(|&end| end as usize <= first);
        let (mut done, mut open, mut in_order) = (0, false, true);
        while done < part.len() {
            let end = ends.get(a).map_or(usize::MAX, |&end| end as usize);
            // A driver with errors must not cause a panic.
            let row = done..end.saturating_sub(first).clamp(done, part.len());
            let records = read_now::values::<[u32; 2]>(&records[8 * row.start..8 * row.end]);
            let mut least = 0;
            for (pair, [b, value]) in part[row.clone()].iter_mut().zip(records) {
                *pair = unpacked([a as u32, b, value]);
                open |= b & GRAZING != 0;
                in_order &= b >= least;
                least = b.wrapping_add(1);
            }
            done = row.end;
            a += 1;
        }
        match !open && in_order {
            true => Ok(Listing::settled(first, part, images)),
            false => Listing::of(first, part, images),
        }
    }
}

fn no_buffers() -> Error {
    Error::device("carom has not created its buffers")
}

fn poll(device: &wgpu::Device, until: wgpu::SubmissionIndex) -> Result<(), Error> {
    let wait = wgpu::PollType::Wait {
        submission_index: Some(until),
        timeout: None,
    };
    device.poll(wait).map(|_| ()).map_err(Error::device_failed)
}

#[cfg(not(target_arch = "wasm32"))]
fn poll_elsewhere(device: &wgpu::Device, until: wgpu::SubmissionIndex) -> Result<(), Error> {
    let device = device.clone();
    let wait = move || {
        if let Err(error) = poll(&device, until) {
            log::error!("{error}");
        }
    };
    let thread = std::thread::Builder::new().name("carom".to_owned());
    thread.spawn(wait).map_err(Error::threads)?;
    Ok(())
}

/// A browser polls the device itself.
#[cfg(target_arch = "wasm32")]
fn poll_elsewhere(_device: &wgpu::Device, _until: wgpu::SubmissionIndex) -> Result<(), Error> {
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
