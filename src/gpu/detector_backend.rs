//! The GPU backend of `Detector`, on a device that carom creates itself.

use wgpu::DeviceType;

use super::buffers::{Buffers, Capacity};
use super::collision_buffers::CollisionBuffers;
use super::decode::unfinished;
use super::options::BufferOptions;
use super::pipeline::CollisionPipeline;
use super::read_now;
use super::shader::layout::CaromCollision;
use super::status::Status;
use super::summary::{RequiredCapacity, StepSummary};
use crate::Error;
use crate::blocking::Wait;
use crate::exact::{GRAZING, Grazing, ReportedPair};
use crate::limits::Limits;
use crate::outcome::Outcome;
use crate::step::CheckedStep;

/// A device that carom has created, and the buffers of one world on it.
pub(crate) struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    /// The adapter's name and graphics API.
    adapter: String,
    pub(super) pipeline: CollisionPipeline,
    buffers: Option<CollisionBuffers>,
    /// Capacities of the first buffers that are created: time segments beyond each sphere's first,
    /// and pairs. `None` derives the capacity from the number of spheres.
    first: [Option<u64>; 2],
    /// True while a step runs. It stays true if the future of the step is dropped before the step
    /// has finished.
    at_work: bool,
    /// Seed of the noise that fills the buffers before each attempt at a step; `None` for no noise.
    #[cfg(test)]
    pub(super) noise: Option<u64>,
}

/// Largest number of bytes of pairs that are read back at a time. Every device can create a buffer
/// of this size.
const READ_AT_ONCE: u64 = 1 << 26;

/// Returns the rank of a kind of graphics adapter. The adapter with the lowest rank is the best
/// choice. Hardware adapters rank before software adapters.
fn rank(kind: DeviceType) -> u32 {
    match kind {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    }
}

impl Gpu {
    /// Creates a device on the best adapter. If `hardware` is true and the best adapter is a
    /// software adapter, returns an error.
    pub(crate) async fn new(hardware: bool) -> Result<Self, Error> {
        let instance =
            wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
        let mut adapters = instance.enumerate_adapters(wgpu::Backends::all()).await;
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

    /// Returns the adapter's name and graphics API.
    pub(crate) fn adapter(&self) -> &str {
        &self.adapter
    }

    /// Runs all stages of a step on the GPU. Returns the step's counts and stage times, and the
    /// pairs that the GPU reported.
    pub(crate) async fn run(
        &mut self,
        step: CheckedStep<'_>,
        limits: Limits,
        wait: Wait,
    ) -> Result<(Outcome, Vec<ReportedPair>), Error> {
        if self.at_work {
            // The future of an earlier step was dropped before the step had finished, so the device
            // may still use the buffers.
            self.buffers = None;
        }
        self.at_work = true;
        let outcome = self.attempts(step, limits, wait).await;
        self.at_work = false;
        outcome
    }

    /// Runs the step, and repeats it with larger buffers until its time segments and pairs fit.
    async fn attempts(
        &mut self,
        step: CheckedStep<'_>,
        limits: Limits,
        wait: Wait,
    ) -> Result<(Outcome, Vec<ReportedPair>), Error> {
        if step.spheres.is_empty() {
            return Ok((Outcome::default(), Vec::new()));
        }
        let mut required = RequiredCapacity::for_spheres(step.spheres.len() as u64);
        loop {
            self.ensure(&required, limits)?;
            let counts = self.step(step, wait).await?;
            if counts.status.contains(Status::UNFINISHED) {
                return Err(unfinished());
            }
            let candidates = counts.candidates;
            let (slots, memory) = self.size();
            if counts.status.contains(Status::TOO_CROWDED) {
                return Err(Error::TooManyCandidates {
                    needed: candidates,
                    limit: limits.candidates,
                });
            }
            // The limit on touching pairs cannot be checked exactly here: some of the pairs found
            // do not touch, and some are in the list several times. Only `decide`, which runs after
            // the readback, removes both. This looser check bounds the memory.
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
                // `decide` counts the grazing pairs, after the readback.
                grazing: Grazing::default(),
            };
            let b_offset = step.sets.b_offset();
            let reported = self.read_pairs(counts.found, b_offset, wait).await?;
            return Ok((outcome, reported));
        }
    }

    /// Returns the number of slots in the slot table, and the size in bytes of the storage buffers
    /// other than `spheres` and `pairs`. Both are 0 if there are no buffers.
    fn size(&self) -> (u64, u64) {
        let buffers = self.buffers.as_ref().map(|buffers| &buffers.buffers);
        buffers.map_or((0, 0), |buffers| (buffers.slots.into(), buffers.working))
    }

    /// Ensures that there are buffers of the required capacity: creates or replaces the buffers if
    /// necessary.
    fn ensure(&mut self, required: &RequiredCapacity, limits: Limits) -> Result<(), Error> {
        // Buffers that were made for far more spheres than this step has are released.
        let had = self
            .buffers
            .as_ref()
            .map_or(0, |buffers| buffers.options().spheres);
        if u64::from(had) > 16 * required.spheres + (1 << 16) {
            self.buffers = None;
        }
        let mut buffers = match self.buffers.take() {
            Some(buffers) => buffers,
            None => self.first(required.spheres)?,
        };
        buffers.options.max_candidates = limits.candidates;
        // At the first attempt, the number of this step's time segments is not known. So the lower
        // bound on their length that an earlier step left is dropped.
        if required.segments == 0 {
            buffers.shortest_segment = f32::MIN_POSITIVE;
        }
        let (capacity, shortest_segment) = buffers.grown(required)?;
        if capacity != buffers.buffers.capacity {
            let options = buffers.options.clone();
            // The old buffers are freed first, so that the device need not hold both at once.
            drop(buffers);
            buffers = self.pipeline.with_capacity(&options, capacity)?;
        }
        buffers.shortest_segment = shortest_segment;
        #[cfg(test)]
        self.fill_with_noise(&buffers.buffers);
        self.buffers = Some(buffers);
        Ok(())
    }

    /// Creates the first buffers, for `spheres` spheres.
    fn first(&self, spheres: u64) -> Result<CollisionBuffers, Error> {
        let limits = &self.pipeline.kernels.context.limits;
        let [segments, pairs] = self.first;
        let room = Buffers::most_proxies(limits).saturating_sub(spheres);
        let capacity = Capacity {
            spheres,
            // The first capacity for time segments is small: the buffers grow on demand, and in
            // most worlds no sphere moves far enough to be cut into segments.
            segments: segments.unwrap_or(spheres / 64 + 1024).min(room),
            pairs: pairs
                .unwrap_or(spheres + 1024)
                .min(Buffers::most_pairs(limits)),
        };
        let options = BufferOptions {
            recordings: 2,
            timestamp_period: Some(self.queue.get_timestamp_period()),
            ..BufferOptions::new(spheres as u32)
        };
        self.pipeline.with_capacity(&options, capacity)
    }

    /// Records and submits a step, and waits for its summary.
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

    /// Ensures that the submitted work and its callbacks complete. With [`Wait::Block`], they have
    /// completed when this method returns. With [`Wait::Await`], they complete some time later.
    fn finish_work(&self, wait: Wait) -> Result<(), Error> {
        match wait {
            Wait::Block => self.pipeline.kernels.context.scoped(|| poll(&self.device)),
            Wait::Await => poll_elsewhere(&self.device),
        }
    }

    /// Reads the list of pairs back. Both indices of a returned pair refer to one list of all
    /// spheres: with two sets, `b_offset` is added to the index of the sphere in the second set.
    async fn read_pairs(
        &self,
        pairs: u64,
        b_offset: usize,
        wait: Wait,
    ) -> Result<Vec<ReportedPair>, Error> {
        let Some(buffers) = self.buffers.as_ref().filter(|_| pairs > 0) else {
            return Ok(Vec::new());
        };
        let context = &self.pipeline.kernels.context;
        let mut reported = crate::memory::allocate(pairs as usize, "the pairs found")?;
        let whole = pairs * size_of::<CaromCollision>() as u64;
        for from in (0..whole).step_by(READ_AT_ONCE as usize) {
            let part = (buffers.pairs(), from, READ_AT_ONCE.min(whole - from));
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
            let mut read: Vec<CaromCollision> = Vec::new();
            reading.take(&mut read).await?;
            reported.extend(read.iter().map(|pair| ReportedPair {
                a: pair.a,
                b: ((pair.b_and_grazing & !GRAZING) + b_offset as u32)
                    | pair.b_and_grazing & GRAZING,
            }));
        }
        Ok(reported)
    }
}

/// Blocks until the device has completed all submitted work.
fn poll(device: &wgpu::Device) -> Result<(), Error> {
    device
        .poll(wgpu::PollType::wait_indefinitely())
        .map(|_| ())
        .map_err(Error::device_failed)
}

/// Polls the device on a new thread until the device has completed all submitted work.
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
    /// Sets the capacities of the first buffers that are created: pairs, and time segments beyond
    /// each sphere's first.
    pub(crate) fn with_first_capacities(
        mut self,
        pairs: Option<u64>,
        segments: Option<u64>,
    ) -> Self {
        self.first = [segments, pairs];
        self
    }

    /// Returns the device limits that carom respects, so that a test can lower them. Drops the
    /// buffers, which were made for the old limits.
    pub(crate) fn limits(&mut self) -> &mut wgpu::Limits {
        self.buffers = None;
        let kernels = std::sync::Arc::get_mut(&mut self.pipeline.kernels);
        match kernels.and_then(|kernels| std::sync::Arc::get_mut(&mut kernels.context)) {
            Some(context) => &mut context.limits,
            None => panic!("the pipeline is in use"),
        }
    }

    /// Fills all storage buffers with noise, if `noise` is set. This tests that no stage relies on
    /// memory being zero.
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
mod tests {
    use super::super::filter_on_gpu::adapter as gpu;
    use super::*;
    use crate::Sphere;
    use crate::blocking::block_on;
    use crate::cpu::measure;
    use crate::cpu::plan::plan;
    use crate::gpu::shader::layout::{Counters, GpuPlan, GpuSegment, GpuSizeClass, GpuSpace};
    use crate::reuse::ReusedVec;
    use crate::shared::sets::Sets;
    use crate::shared::tag::SEGMENT_BITS;
    use crate::shared::units::Units;
    use crate::step::UncheckedStep;

    const LIMITS: Limits = Limits {
        candidates: 1 << 34,
        pairs: 1 << 28,
    };

    /// Returns `count` spheres of equal size at random places in a cube. Most of them move slowly.
    /// Every fiftieth moves by up to the edge of the cube along each axis.
    fn world(count: usize) -> Vec<Sphere> {
        let mut rng = fastrand::Rng::with_seed(7);
        let side = (count as f32 * 10.0).cbrt();
        let mut place = |scale: f32| [0; 3].map(|_| rng.f32() * scale);
        (0..count)
            .map(|i| {
                let speed = if i % 50 == 0 { side } else { 0.5 };
                Sphere::new(place(side), 0.5).with_velocity(place(speed))
            })
            .collect()
    }

    /// Returns the reported pairs, sorted and without repeats.
    fn pairs((_, reported): &(Outcome, Vec<ReportedPair>)) -> Vec<(u32, u32)> {
        let mut pairs: Vec<_> = reported.iter().map(|pair| (pair.a, pair.b)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    fn run(gpu: &mut Gpu, spheres: &[Sphere]) -> (Outcome, Vec<ReportedPair>) {
        let step = UncheckedStep {
            spheres,
            sets: Sets::One,
            dt: 1.0,
        };
        step.check()
            .and_then(|step| block_on(gpu.run(step, LIMITS, Wait::Block)))
            .unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn fresh_buffers_full_of_noise_give_the_same_list() {
        let spheres = world(5000);
        let expected = pairs(&run(&mut gpu(), &spheres));
        assert!(expected.len() > 1000);
        for seed in 0..4 {
            let mut gpu = gpu();
            gpu.noise = Some(seed);
            assert_eq!(pairs(&run(&mut gpu, &spheres)), expected);
        }
    }

    #[test]
    fn a_first_capacity_of_one_still_gives_the_full_list() {
        let spheres = world(5000);
        let expected = run(&mut gpu(), &spheres);
        assert!(
            expected.0.proxies > 5000 + 1,
            "no sphere is cut into segments"
        );
        let mut gpu = gpu().with_first_capacities(Some(1), Some(1));
        assert_eq!(pairs(&run(&mut gpu, &spheres)), pairs(&expected));
        let grown = gpu.buffers.as_ref().map(CollisionBuffers::options);
        assert!(grown.is_some_and(|options| options.pairs > Some(1) && options.segments > Some(1)));
    }

    #[test]
    fn dispatches_wider_than_an_axis_are_folded() {
        let spheres = world(5000);
        let mut gpu = gpu();
        let expected = pairs(&run(&mut gpu, &spheres));
        for widest in [9, 13, 30] {
            gpu.limits().max_compute_workgroups_per_dimension = widest;
            assert_eq!(
                pairs(&run(&mut gpu, &spheres)),
                expected,
                "at most {} an axis",
                widest
            );
        }
    }

    /// Reads the contents of the buffer that is bound to the shader variable `name`.
    fn contents<T: bytemuck::Pod>(gpu: &Gpu, name: &str) -> Vec<T> {
        let Some(buffers) = &gpu.buffers else {
            panic!("carom has not created its buffers");
        };
        let named = &buffers.buffers.named;
        let buffer = (named.buffer(name)).unwrap_or_else(|error| panic!("{error}"));
        let mut read = Vec::new();
        let part = (buffer, 0, buffer.size());
        read_now::read(
            &gpu.device,
            &gpu.queue,
            encoder(&gpu.device),
            &[part],
            &mut read,
        )
        .unwrap_or_else(|error| panic!("{error}"));
        read
    }

    /// Returns spheres with radii over many octaves. One workgroup of `measure_sizes` then has more
    /// size classes than fit the hash table in its workgroup memory.
    fn of_all_sizes(count: usize) -> Vec<Sphere> {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut place = || [0; 3].map(|_| rng.f32() * 100.0 - 50.0);
        (0..count)
            .map(|i| {
                let radius = 1e-6 * ((i * 37 % 60) as f32 * 0.5).exp2();
                let velocity = place().map(|x| x * ((i % 7) as f32 - 6.0).exp2());
                Sphere::new(place(), radius).with_velocity(velocity)
            })
            .collect()
    }

    /// Returns the spheres of [`world`], but the spheres with an index in `bullets` move by `far`
    /// along x, and by a quarter and a half of `far` along y and z.
    fn with_bullets(bullets: std::ops::Range<usize>, far: f32) -> Vec<Sphere> {
        let mut spheres = world(3000);
        for sphere in &mut spheres[bullets] {
            sphere.velocity = [far, 0.25 * far, -0.5 * far];
        }
        spheres
    }

    #[test]
    fn every_sphere_is_in_the_histogram_and_has_its_segments_and_a_level() {
        let worlds = [
            ("a gas", world(5000), 0),
            ("a gas of two sets", world(5000), 1234),
            ("sixty sizes", of_all_sizes(3000), 0),
            ("sixty sizes in two sets", of_all_sizes(3000), 700),
            (
                "most segments a sphere can have",
                with_bullets(600..603, 1e7),
                0,
            ),
            ("a workgroup of bullets", with_bullets(256..512, 2000.0), 0),
            ("one sphere", world(1), 0),
        ];
        for (name, spheres, split) in worlds {
            let mut gpu = gpu();
            gpu.noise = Some(1);
            let sets = match split {
                0 => Sets::One,
                first => Sets::Two { first },
            };
            let step = UncheckedStep {
                spheres: &spheres,
                sets,
                dt: 1.0,
            };
            step.check()
                .and_then(|step| block_on(gpu.run(step, LIMITS, Wait::Block)))
                .unwrap_or_else(|error| panic!("{name}: {error}"));

            // Compute the size classes and time segments on the CPU, with the GPU's frame and the
            // GPU's length of segments.
            let own: GpuSpace = contents(&gpu, "space")[0];
            let scale = &Units::default().scale(1.0);
            let mut space = measure::measure_space(&spheres, scale, &mut Default::default());
            let shortest = gpu.buffers.as_ref().map_or(0.0, |b| b.shortest_segment);
            space.segment = own.segment.max(shortest);
            space.frame.origin = own.frame.origin.into();
            space.frame.drift = own.frame.drift.into();
            space.trimmed = [own.trimmed_low, own.trimmed_high].map(Into::into);
            let mut kept = measure::SizesMemory::default();
            let sizes = measure::measure_sizes(&spheres, scale, &space, sets, u64::MAX, &mut kept)
                .unwrap_or_else(|error| panic!("{name}: {error}"));

            let class_of: Vec<u32> = contents(&gpu, "size_class_of_sphere");
            let expected: Vec<u32> = sizes.class_of.iter().map(|&class| class.into()).collect();
            assert!(
                class_of[..spheres.len()] == expected,
                "{name}: other size classes"
            );

            let classes: Vec<GpuSizeClass> = contents(&gpu, "size_classes");
            let counters: Counters = contents(&gpu, "counters")[0];
            let mut used = vec![0; counters.used.len()];
            for (number, expected) in sizes.classes {
                used[number / 32] |= 1_u32 << (number % 32);
                let class = &classes[*number];
                assert_eq!(
                    (class.count, class.inside),
                    (expected.count, expected.inside),
                    "{name}, size class {number}"
                );
                let close = |found: f32, expected: f32| {
                    assert!(
                        (found - expected).abs() <= 1e-5 * expected.abs().max(1e-3),
                        "{name}, size class {number}: {found} is not {expected}"
                    );
                };
                close(f32::from_bits(class.half_cell), expected.half_cell);
                // A bound is stored as a word such that the words, as unsigned integers, have the
                // order of the float32 bounds: the sign bit of a positive number is flipped, and
                // all bits of a negative number.
                let float = |word: u32| match word >> 31 {
                    1 => f32::from_bits(word & 0x7fff_ffff),
                    _ => f32::from_bits(!word),
                };
                for axis in 0..3 {
                    close(-float(class.low[axis]), expected.bounds[0][axis]);
                    close(float(class.high[axis]), expected.bounds[1][axis]);
                }
            }
            let total: u64 = classes.iter().map(|class| u64::from(class.count)).sum();
            let proxies = spheres.len() + sizes.segments.len();
            assert_eq!(total, proxies as u64, "{name}: more size classes");
            assert!(counters.used[..] == used, "{name}: other bits");
            if name.starts_with("most segments") {
                assert!(proxies > 3 << SEGMENT_BITS, "{name}: {proxies} proxies");
            }

            // Compute the plan of levels on the CPU, from the GPU's correlation curve.
            space.log_others = own.log_others;
            let (slots, mut level_of_class) = (gpu.size().0 as u32, ReusedVec::default());
            let expected = plan(&space, sizes.classes, sets, slots, &mut level_of_class);
            let own: GpuPlan = contents(&gpu, "plan")[0];
            assert_eq!(own.levels as usize, expected.levels.len(), "{name}");
            for &(number, _) in sizes.classes {
                let level = u32::from(expected.level_of_class[number]);
                assert_eq!(
                    own.level_of_size_class[number], level,
                    "{name}, size class {number}"
                );
            }

            let segments: Vec<GpuSegment> = contents(&gpu, "segments");
            let further = sizes.segments.len();
            let found = segments[..further].iter();
            let mut found: Vec<_> = found.map(|own| (own.sphere, own.number)).collect();
            found.sort_unstable();
            let expected = sizes.segments.iter();
            let mut expected: Vec<_> = expected.map(|own| (own.sphere, own.number)).collect();
            expected.sort_unstable();
            assert_eq!(counters.segments, [further as u32, 0], "{name}");
            assert!(found == expected, "{name}: other segments");
        }
    }

    #[test]
    fn a_dispatch_of_more_workgroups_than_an_axis_allows_finds_all_pairs() {
        // One axis of a dispatch allows 65 535 workgroups of 64 invocations. These are 4 194 240
        // invocations, fewer than the 2²² spheres of this test. A binding of 128 MiB can hold 2²²
        // spheres or proxies, which take 32 bytes each.
        let count = 1 << 22;
        let spheres: Vec<Sphere> = (0..count)
            .map(|i: u32| {
                Sphere::new(
                    [(i % 2048) as f32, (i / 2048) as f32, 0.0],
                    if i % 1000 == 1 { 0.6 } else { 0.45 },
                )
            })
            .collect();
        let found = pairs(&run(&mut gpu(), &spheres));
        let in_reach = |i: u32| {
            // In the square grid of spheres, a large sphere touches its neighbours in the same row
            // and in the same column.
            let (x, y) = (i % 2048, i / 2048);
            [
                (x > 0).then(|| i - 1),
                (x < 2047 && i + 1 < count).then(|| i + 1),
                (y > 0).then(|| i - 2048),
                (i + 2048 < count).then(|| i + 2048),
            ]
        };
        let mut expected: Vec<(u32, u32)> = (0..count)
            .filter(|i| i % 1000 == 1)
            .flat_map(|i| {
                in_reach(i)
                    .into_iter()
                    .flatten()
                    .map(move |j| (i.min(j), i.max(j)))
            })
            .collect();
        expected.sort_unstable();
        expected.dedup();
        assert!(
            found == expected,
            "{} pairs, not {}",
            found.len(),
            expected.len()
        );
    }
}
