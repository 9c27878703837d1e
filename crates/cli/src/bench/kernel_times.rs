//! The GPU of a report: its properties, and the time that each kernel (compute shader) takes on it.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use carom::gpu::{BufferOptions, CollisionPipeline, StepSummary, kernels, wgpu};
use carom::{Sphere, Step};
use serde::Serialize;

use super::median::median;

/// Largest number of attempts to make the buffers large enough for a world.
const ATTEMPTS: usize = 6;

/// The deadline of a GPU report. Checks and measurements that would end later are left out.
pub(super) struct Limit {
    pub(super) end: Instant,
}

impl Limit {
    /// Returns whether work that takes the time `duration` would end before the deadline if it began now.
    pub(super) fn allows(&self, duration: Duration) -> bool {
        let end = Instant::now().checked_add(duration);
        end.is_some_and(|end| end <= self.end)
    }

    /// Calls a function up to `most` times, and at least once, and returns the results. Stops early
    /// if one more call would end after the time limit, if it took as long as the longest call so
    /// far.
    pub(super) fn repeat<T>(
        &self,
        most: u32,
        mut call: impl FnMut() -> anyhow::Result<T>,
    ) -> anyhow::Result<Vec<T>> {
        let mut results = Vec::new();
        let mut longest = Duration::ZERO;
        for _ in 0..most.max(1) {
            if !results.is_empty() && !self.allows(longest) {
                break;
            }
            let start = Instant::now();
            results.push(call()?);
            longest = longest.max(start.elapsed());
        }
        Ok(results)
    }
}

/// Properties of a GPU and its driver.
#[derive(Clone, Serialize)]
pub(super) struct Properties {
    name: String,
    api: String,
    driver: String,
    has_timestamps: bool,
    /// Limits of the device, in bytes.
    max_buffer_size: u64,
    max_storage_buffer_binding_size: u64,
    /// Smallest and largest number of invocations in a subgroup.
    subgroup_sizes: [u32; 2],
}

impl Properties {
    pub(super) fn lines(&self) -> String {
        format!(
            "API: {}. Driver: {}. Timestamps: {}. Largest buffer: {} bytes; largest storage buffer: {} \
             bytes. Subgroups of {} to {} invocations.",
            self.api,
            self.driver,
            if self.has_timestamps { "yes" } else { "no" },
            self.max_buffer_size,
            self.max_storage_buffer_binding_size,
            self.subgroup_sizes[0],
            self.subgroup_sizes[1],
        )
    }
}

/// The time of a kernel in a step, the sum over its dispatches.
#[derive(Clone, Debug, Serialize)]
pub(super) struct KernelTime {
    pub(super) name: &'static str,
    pub(super) dispatches: usize,
    /// Number of invocations in a workgroup.
    pub(super) workgroup_size: Option<u32>,
    pub(super) seconds: f64,
}

pub(super) struct Gpu {
    pub(super) properties: Properties,
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
}

impl Gpu {
    /// Opens the adapter with the name that a `Detector` reported.
    pub(super) fn new(adapter: &str) -> anyhow::Result<Self> {
        let instance =
            wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
        let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
        let is_named = |found: &wgpu::Adapter| {
            let info = found.get_info();
            format!("{} ({})", info.name, info.backend) == adapter
        };
        let found = adapters.into_iter().find(is_named);
        let found = found.with_context(|| format!("there is no adapter {adapter} any more"))?;
        let (info, offered) = (found.get_info(), found.limits());
        let features = found.features() & wgpu::Features::TIMESTAMP_QUERY;
        let request = found.request_device(&wgpu::DeviceDescriptor {
            label: Some("carom report"),
            required_features: features,
            required_limits: wgpu::Limits {
                max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
                max_buffer_size: offered.max_buffer_size,
                ..wgpu::Limits::default()
            },
            ..wgpu::DeviceDescriptor::default()
        });
        let (device, queue) = pollster::block_on(request)?;
        Ok(Self {
            properties: Properties {
                api: info.backend.to_string(),
                driver: format!("{} {}", info.driver, info.driver_info),
                name: info.name,
                has_timestamps: !features.is_empty(),
                max_buffer_size: offered.max_buffer_size,
                max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
                subgroup_sizes: [info.subgroup_min_size, info.subgroup_max_size],
            },
            device,
            queue,
        })
    }

    /// Returns the median time of each kernel in a step of these spheres, in the order in which they
    /// run. Empty if the device has no timestamps.
    pub(super) fn times(
        &self,
        spheres: &[Sphere],
        repeats: u32,
        limit: &Limit,
    ) -> anyhow::Result<Vec<KernelTime>> {
        let options = BufferOptions::new(u32::try_from(spheres.len())?)
            .with_timestamp_period(self.queue.get_timestamp_period())
            .with_kernel_times();
        let mut buffers = CollisionPipeline::new(&self.device)?.create_buffers(&options)?;
        let mut step = || -> anyhow::Result<StepSummary> {
            for _ in 0..ATTEMPTS {
                let mut encoder = self.device.create_command_encoder(&Default::default());
                buffers.record(&mut encoder, &Step::new(spheres, 1.0))?;
                let mut ticket = buffers.read_summary(&mut encoder)?;
                self.queue.submit([encoder.finish()]);
                self.device.poll(wgpu::PollType::wait_indefinitely())?;
                let Some(summary) = ticket.try_take()? else {
                    bail!("the results are not ready after the device has become idle");
                };
                match summary.required_capacity() {
                    None => return Ok(summary),
                    Some(required) => _ = buffers.grow(&required)?,
                }
            }
            bail!("the buffers are still too small after {ATTEMPTS} attempts")
        };
        step()?;
        let calls = limit.repeat(repeats, step)?;
        let mut times: Vec<KernelTime> = Vec::new();
        let Some(call) = calls.first() else {
            return Ok(times);
        };
        for &(name, _) in &call.stages {
            match times.iter_mut().find(|time| time.name == name) {
                Some(time) => time.dispatches += 1,
                None => times.push(KernelTime {
                    name,
                    dispatches: 1,
                    workgroup_size: workgroup_size(name),
                    seconds: 0.0,
                }),
            }
        }
        for time in &mut times {
            let of = |call: &StepSummary| {
                let own = call.stages.iter().filter(|(name, _)| *name == time.name);
                own.map(|(_, time)| time.as_secs_f64()).sum()
            };
            time.seconds = median(calls.iter().map(of).collect());
        }
        Ok(times)
    }
}

/// Returns the number of invocations in a workgroup of a kernel, read from its WGSL text.
fn workgroup_size(name: &str) -> Option<u32> {
    let kernel = kernels().find(|kernel| kernel.name == name)?;
    let text = kernel.wgsl().ok()?;
    let (before, _) = text.split_once(&format!("fn {}(", kernel.entry))?;
    let (_, size) = before.rsplit_once("@workgroup_size(")?;
    let (size, _) = size.split_once(')')?;
    let number = |text: &str| text.trim().trim_end_matches('u').parse().ok();
    number(size).or_else(|| {
        let (_, value) = text.split_once(&format!("const {size}: u32 = "))?;
        number(value.split_once(';')?.0)
    })
}
