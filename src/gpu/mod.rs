//! The GPU backend: every stage a compute shader, in one recording with no
//! readback in between.

#![allow(
    clippy::cast_possible_truncation,
    reason = "what a buffer holds is checked against the device's limits, far below 2³²"
)]

mod buffers;
mod kernels;
mod readback;
mod record;
mod reductions;
#[cfg(test)]
pub(crate) mod sweep_on_gpu;

use std::future::Future;
use std::time::Duration;

use wgpu::{DeviceType, ErrorFilter};

use self::buffers::{Buffers, Capacity, CaromCollision, CaromResults, Params};
use self::kernels::Stages;
use self::record::{Binder, Recording};
use crate::cpu::{Limits, Outcome, most_proxies};
use crate::exact::{GRAZING, Reported};
use crate::units::Units;
use crate::{Error, Options, Sphere};

/// A device of our own, and the buffers on it.
pub(crate) struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    adapter: String,
    stages: Stages,
    timestamps: Option<Timestamps>,
    world: Option<World>,
    /// Capacity to begin with; 0 where the number of spheres tells.
    first: [u64; 2],
    /// What the device can hold, and how many workgroups along an axis.
    pub(crate) limits: wgpu::Limits,
    /// Whether the adapter is one in software.
    software: bool,
    #[cfg(test)]
    noise: Option<u64>,
}

/// The buffers of a world, and what is done with them.
struct World {
    buffers: Buffers,
    recording: Recording,
}

struct Timestamps {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    period: f64,
}

/// Pairs are read back in pieces of so many bytes, less than any device's
/// largest buffer.
const READ_AT_ONCE: u64 = 1 << 26;

/// A capacity for `needed`, with room to grow as far as the device has it: a
/// world that grows by a little each step is not to make new buffers each time.
fn with_room(needed: u64, most: u64) -> u64 {
    needed.max((needed + needed / 2).min(most))
}

/// How good a choice an adapter is: hardware first, least is best.
fn rank(kind: DeviceType) -> u32 {
    match kind {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    }
}

/// Runs `work` and turns what the device has to say against it into an error,
/// so that it never reaches the application's handler.
fn scoped<T>(device: &wgpu::Device, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let scopes = [
        ErrorFilter::Internal,
        ErrorFilter::OutOfMemory,
        ErrorFilter::Validation,
    ]
    .map(|filter| device.push_error_scope(filter));
    let done = work();
    let mut failure = None;
    for scope in scopes.into_iter().rev() {
        if let Some(error) = block_on(scope.pop()) {
            failure = Some(Error::Device(error.to_string()));
        }
    }
    match failure {
        // What the work itself found out tells more.
        Some(failure) => done.and(Err(failure)),
        None => done,
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    pollster::block_on(future)
}

impl Gpu {
    /// Takes the best adapter. With `hardware`, a software adapter will not do.
    pub(crate) fn new(options: &Options, hardware: bool) -> Result<Self, Error> {
        let instance =
            wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
        let mut adapters = block_on(instance.enumerate_adapters(wgpu::Backends::all()));
        adapters.sort_by_key(|adapter| rank(adapter.get_info().device_type));
        let Some(adapter) = adapters.into_iter().next() else {
            return Err(Error::NoAdapter("no driver offers one".to_owned()));
        };
        let info = adapter.get_info();
        if hardware && rank(info.device_type) > rank(DeviceType::VirtualGpu) {
            return Err(Error::NoAdapter(format!(
                "{} is in software, and slower than the CPU backend",
                info.name
            )));
        }
        let offered = adapter.limits();
        let features = adapter.features() & wgpu::Features::TIMESTAMP_QUERY;
        let (device, queue) = block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("carom"),
            required_features: features,
            required_limits: wgpu::Limits {
                max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
                max_buffer_size: offered.max_buffer_size,
                ..wgpu::Limits::default()
            },
            ..wgpu::DeviceDescriptor::default()
        }))
        .map_err(|error| Error::Device(error.to_string()))?;
        let (stages, timestamps) = scoped(&device, || {
            Ok((
                Stages::new(&device),
                (!features.is_empty()).then(|| Timestamps::new(&device, &queue)),
            ))
        })?;
        Ok(Self {
            adapter: format!("{} ({})", info.name, info.backend),
            software: info.device_type == DeviceType::Cpu,
            limits: device.limits(),
            device,
            queue,
            stages,
            timestamps,
            world: None,
            first: [options.segment_capacity, options.pair_capacity]
                .map(|capacity| capacity as u64),
            #[cfg(test)]
            noise: None,
        })
    }

    /// The adapter's name and API.
    pub(crate) fn adapter(&self) -> &str {
        &self.adapter
    }

    /// Runs all stages, again with more room as often as it takes. `split` is
    /// where the second of two sets begins, 0 if there is one set.
    pub(crate) fn run(
        &mut self,
        spheres: &[Sphere],
        split: usize,
        dt: f32,
        units: Units,
        limits: Limits,
    ) -> Result<Outcome, Error> {
        if spheres.is_empty() {
            return Ok(Outcome::default());
        }
        let count = spheres.len() as u64;
        // A world that was once much larger is not to be paid for ever.
        if self.capacity().spheres > 16 * count + (1 << 16) {
            self.world = None;
        }
        let had = self.world.as_ref().map(|world| world.buffers.capacity);
        let or = |asked: u64, usual: u64| if asked > 0 { asked } else { usual };
        let most = Buffers::most_proxies(&self.limits);
        let spheres_room = match had {
            Some(had) if had.spheres < count => with_room(count, most / 2),
            Some(had) => had.spheres,
            None => count,
        };
        let room = most.saturating_sub(spheres_room);
        let mut needed = Capacity {
            spheres: spheres_room,
            segments: had
                .map_or(or(self.first[0], count / 4 + 1024), |had| had.segments)
                .min(room),
            pairs: had
                .map_or(or(self.first[1], count + 1024), |had| had.pairs)
                .min(Buffers::most_pairs(&self.limits)),
        };
        let mut shortest_segment = f32::MIN_POSITIVE;
        loop {
            self.ensure(needed)?;
            let mut params = Params::new(spheres.len(), split, dt, units);
            params.shortest_segment = shortest_segment;
            params.most_candidates_low = limits.candidates as u32;
            params.most_candidates_high = (limits.candidates >> 32) as u32;
            let (results, stages) = self.step(spheres, params)?;
            let [segments, candidates, pairs] = [
                results.segments,
                results.candidates,
                results.found,
            ]
            .map(|[low, high]| u64::from(low) | u64::from(high) << 32);
            let capacity = self.capacity();
            if segments > capacity.segments {
                let most = most_proxies(spheres.len()).min(Buffers::most_proxies(&self.limits));
                if count + segments > most && shortest_segment < crate::MAX_MAGNITUDE {
                    // Longer segments, as the CPU does it.
                    shortest_segment = 2.0 * shortest_segment.max(results.segment);
                } else {
                    needed.segments = with_room(segments, room);
                }
                continue;
            }
            if results.status & UNFINISHED != 0 {
                return Err(Error::Device(format!(
                    "the driver of {} ends loops before they are done: some spheres of this world \
                     have more neighbours than it can go through",
                    self.adapter
                )));
            }
            if candidates > limits.candidates {
                return Err(Error::TooManyCandidates {
                    needed: candidates,
                    limit: limits.candidates,
                });
            }
            if pairs > limits.pairs {
                return Err(Error::TooManyPairs {
                    needed: pairs,
                    limit: limits.pairs,
                });
            }
            if pairs > capacity.pairs {
                needed.pairs = with_room(pairs, Buffers::most_pairs(&self.limits));
                continue;
            }
            return Ok(Outcome {
                reported: self.read_pairs(pairs, split)?,
                proxies: count + segments,
                levels: results.levels,
                candidates,
                stages,
            });
        }
    }

    fn capacity(&self) -> Capacity {
        self.world.as_ref().map_or(
            Capacity {
                spheres: 0,
                segments: 0,
                pairs: 0,
            },
            |world| world.buffers.capacity,
        )
    }

    /// Makes new buffers where the old ones are too small.
    fn ensure(&mut self, needed: Capacity) -> Result<(), Error> {
        if self.capacity().covers(&needed) {
            return Ok(());
        }
        // The old ones go first, so that both need not fit.
        self.world = None;
        self.world = Some(scoped(&self.device, || {
            let buffers = Buffers::new(&self.device, &self.limits, needed)?;
            let widest = self.limits.max_compute_workgroups_per_dimension;
            Ok(World {
                recording: Recording::new(
                    Binder {
                        device: &self.device,
                        widest,
                    },
                    &self.stages,
                    &buffers,
                ),
                buffers,
            })
        })?);
        #[cfg(test)]
        self.fill_with_noise();
        Ok(())
    }

    /// One recording, and what it came to.
    fn step(
        &self,
        spheres: &[Sphere],
        params: Params,
    ) -> Result<(CaromResults, Vec<(&'static str, Duration)>), Error> {
        let Some(World { buffers, recording }) = &self.world else {
            return Err(Error::Device("there are no buffers".to_owned()));
        };
        let params = Params {
            segment_capacity: buffers.capacity.segments as u32,
            pair_capacity: buffers.capacity.pairs.min(u64::from(u32::MAX)) as u32,
            slots: buffers.slots,
            watch: u32::from(self.software),
            ..params
        };
        let timestamps = self.timestamps.as_ref();
        let mut words: Vec<u32> = Vec::new();
        scoped(&self.device, || {
            self.queue
                .write_buffer(&buffers.params, 0, bytemuck::bytes_of(&params));
            self.queue
                .write_buffer(&buffers.spheres, 0, bytemuck::cast_slice(spheres));
            let mut encoder = self.encoder();
            recording.record(
                &mut encoder,
                None,
                timestamps.map(|timestamps| &timestamps.queries),
            );
            let mut parts = vec![(&buffers.results, 0, size_of::<CaromResults>() as u64)];
            if let Some(timestamps) = timestamps {
                let queries = 2 * recording.stages(None).count() as u32;
                encoder.resolve_query_set(&timestamps.queries, 0..queries, &timestamps.resolved, 0);
                parts.push((&timestamps.resolved, 0, 8 * u64::from(queries)));
            }
            readback::read(&self.device, &self.queue, encoder, &parts, &mut words)
        })?;
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        let (results, times) = bytes.split_at(size_of::<CaromResults>());
        let times: Vec<u64> = bytemuck::pod_collect_to_vec(times);
        let period = timestamps.map_or(0.0, |timestamps| timestamps.period);
        let stage = |(stage, times): (&record::Stage, &[u64])| {
            // Some devices' clocks go backwards between passes.
            let ticks = times[1].saturating_sub(times[0]);
            (
                stage.name,
                Duration::from_nanos((ticks as f64 * period) as u64),
            )
        };
        Ok((
            bytemuck::pod_read_unaligned(results),
            recording
                .stages(None)
                .zip(times.chunks_exact(2))
                .map(stage)
                .collect(),
        ))
    }

    /// Reads the pairs back, with both indices counted in the whole world.
    fn read_pairs(&self, pairs: u64, split: usize) -> Result<Vec<Reported>, Error> {
        let Some(World { buffers, .. }) = self.world.as_ref().filter(|_| pairs > 0) else {
            return Ok(Vec::new());
        };
        let mut reported = crate::error::allocate(pairs as usize, "the pairs found")?;
        let whole = pairs * size_of::<CaromCollision>() as u64;
        for from in (0..whole).step_by(READ_AT_ONCE as usize) {
            let part = (&buffers.pairs, from, READ_AT_ONCE.min(whole - from));
            let mut read: Vec<CaromCollision> = Vec::new();
            scoped(&self.device, || {
                let encoder = self.encoder();
                readback::read(&self.device, &self.queue, encoder, &[part], &mut read)
            })?;
            reported.extend(read.iter().map(|pair| Reported {
                a: pair.a,
                b: ((pair.b_and_grazing & !GRAZING) + split as u32) | pair.b_and_grazing & GRAZING,
            }));
        }
        Ok(reported)
    }

    fn encoder(&self) -> wgpu::CommandEncoder {
        self.device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("carom"),
            })
    }
}

/// Bit of the status: see CAROM_UNFINISHED in `shaders/shared/carom.wgsl`.
const UNFINISHED: u32 = 32;

/// More stages than there are.
const MOST_STAGES: u32 = 16;

impl Timestamps {
    fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        let count = 2 * MOST_STAGES;
        Self {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("carom stages"),
                ty: wgpu::QueryType::Timestamp,
                count,
            }),
            resolved: device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("carom stages"),
                size: 8 * u64::from(count),
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            }),
            period: f64::from(queue.get_timestamp_period()),
        }
    }
}

#[cfg(test)]
impl Gpu {
    /// So that nothing leans on memory being zeroed.
    fn fill_with_noise(&self) {
        let (Some(seed), Some(World { buffers: b, .. })) = (self.noise, &self.world) else {
            return;
        };
        let mut rng = fastrand::Rng::with_seed(seed);
        let all = [
            &b.spheres,
            &b.octaves,
            &b.space,
            &b.bin_of,
            &b.samples,
            &b.ranked,
            &b.segments,
            &b.bins,
            &b.counters,
            &b.plan,
            &b.cells,
            &b.binned,
            &b.sorted,
            &b.sorted_cells,
            &b.pairs,
        ];
        for buffer in all.into_iter().chain(&b.table) {
            let noise: Vec<u32> = (0..buffer.size() / 4).map(|_| rng.u32(..)).collect();
            self.queue
                .write_buffer(buffer, 0, bytemuck::cast_slice(&noise));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sweep_on_gpu::adapter as gpu;
    use super::*;

    const LIMITS: Limits = Limits {
        candidates: 1 << 34,
        pairs: 1 << 28,
    };


    /// A gas with some bullets in it.
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

    /// Every pair reported, in order.
    fn pairs(outcome: &Outcome) -> Vec<(u32, u32)> {
        let mut pairs: Vec<_> = outcome
            .reported
            .iter()
            .map(|pair| (pair.a, pair.b))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    fn run(gpu: &mut Gpu, spheres: &[Sphere]) -> Outcome {
        gpu.run(spheres, 0, 1.0, Units::default(), LIMITS)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn fresh_buffers_full_of_noise_give_the_same_list() {
        let spheres = world(5000);
        let expected = pairs(&run(&mut gpu(Options::default()), &spheres));
        assert!(expected.len() > 1000);
        for seed in 0..4 {
            let mut gpu = gpu(Options::default());
            gpu.noise = Some(seed);
            assert_eq!(pairs(&run(&mut gpu, &spheres)), expected);
        }
    }

    #[test]
    fn a_first_capacity_of_one_still_gives_the_full_list() {
        let spheres = world(5000);
        let expected = run(&mut gpu(Options::default()), &spheres);
        assert!(
            expected.proxies > 5000 + 1,
            "no sphere is cut into segments"
        );
        let tight = Options {
            pair_capacity: 1,
            segment_capacity: 1,
            ..Options::default()
        };
        let mut gpu = gpu(tight);
        assert_eq!(pairs(&run(&mut gpu, &spheres)), pairs(&expected));
        assert!(gpu.capacity().pairs > 1 && gpu.capacity().segments > 1);
    }

    #[test]
    fn dispatches_wider_than_an_axis_are_folded() {
        let spheres = world(5000);
        let mut gpu = gpu(Options::default());
        let expected = pairs(&run(&mut gpu, &spheres));
        for widest in [9, 13, 30] {
            gpu.limits.max_compute_workgroups_per_dimension = widest;
            gpu.world = None;
            assert_eq!(
                pairs(&run(&mut gpu, &spheres)),
                expected,
                "at most {} an axis",
                widest
            );
        }
    }

    #[test]
    fn more_workgroups_than_an_axis_has() {
        // 65 535 of 64 are 4 194 240; and 128 MiB hold this many.
        let count = 1 << 22;
        let spheres: Vec<Sphere> = (0..count)
            .map(|i: u32| {
                Sphere::new(
                    [(i % 2048) as f32, (i / 2048) as f32, 0.0],
                    if i % 1000 == 1 { 0.6 } else { 0.45 },
                )
            })
            .collect();
        let found = pairs(&run(&mut gpu(Options::default()), &spheres));
        let in_reach = |i: u32| {
            // A large one touches those beside it in its row and column.
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
