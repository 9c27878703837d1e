//! The fluid on the GPU: the spheres are in buffers of a wgpu device.

use std::mem::offset_of;

use anyhow::Context;
use carom::gpu::{
    Attribute, CollisionPipeline, DeviceSpheres, SimulationBufferOptions, SimulationBuffers,
    SimulationState, wgpu,
};
use carom::{Domain, HardSphere, SimulationOptions, Sphere};
use wgpu::util::DeviceExt;

/// Largest number of command buffers for one step of the simulation. If the step needs more, the run ends
/// with an error.
const MOST_RECORDINGS: u32 = 10_000;

/// Number of substeps in a recording.
const SUBSTEPS: u32 = 4;

/// Mean number of impacts of each sphere in a substep, unless the command says otherwise.
const IMPACTS: f64 = 0.2;

pub(crate) struct OnGpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    simulation: SimulationBuffers,
    /// The spheres, in the layout of [`Sphere`].
    spheres: wgpu::Buffer,
    count: u32,
    /// Mean number of impacts of each sphere in a substep.
    impacts: f64,
}

impl OnGpu {
    pub(crate) fn new(
        spheres: &[HardSphere],
        domain: Domain,
        impacts: Option<f64>,
    ) -> anyhow::Result<Self> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
        // wgpu would check each indirect dispatch with another dispatch. carom has many indirect dispatches, and the
        // numbers of workgroups that it computes are always valid.
        (descriptor.flags).remove(wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL);
        let instance = wgpu::Instance::new(descriptor);
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..wgpu::RequestAdapterOptions::default()
        };
        let adapter = pollster::block_on(instance.request_adapter(&options))
            .context("no graphics adapter was found; install a driver, or use --backend cpu")?;
        eprintln!("GPU: {}", adapter.get_info().name);
        let offered = adapter.limits();
        let (device, queue) =
            pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
                required_limits: wgpu::Limits {
                    max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
                    max_buffer_size: offered.max_buffer_size,
                    ..wgpu::Limits::default()
                },
                ..wgpu::DeviceDescriptor::default()
            }))?;
        let impacts = impacts.unwrap_or(IMPACTS);
        let rules = SimulationOptions::new()
            .with_domain(domain)
            .with_impacts_per_substep(impacts);
        let count = u32::try_from(spheres.len())?;
        let options = SimulationBufferOptions::new(count)
            .with_substeps(SUBSTEPS)
            .with_simulation(rules);
        let simulation = CollisionPipeline::new(&device)?.create_simulation(&options)?;
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the GPU computes in float32"
        )]
        let narrow = |x: f64| x as f32;
        let narrow_sphere = |sphere: &HardSphere| {
            Sphere::new(sphere.center.map(narrow), narrow(sphere.radius))
                .with_velocity(sphere.velocity.map(narrow))
        };
        let narrowed: Vec<_> = spheres.iter().map(narrow_sphere).collect();
        let spheres = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("spheres"),
            contents: bytemuck::cast_slice(&narrowed),
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        });
        Ok(Self {
            device,
            queue,
            simulation,
            spheres,
            count,
            impacts,
        })
    }

    /// Advances the simulation by `duration`, and returns its state. A recorded command buffer
    /// makes only a limited number of substeps. If they are too few, further command buffers
    /// continue.
    pub(crate) fn advance(&mut self, duration: f32) -> anyhow::Result<SimulationState> {
        let mut duration = duration;
        for _ in 0..MOST_RECORDINGS {
            let at = |offset: usize| {
                Attribute::new(&self.spheres, offset as u64, size_of::<Sphere>() as u64)
            };
            let center = at(offset_of!(Sphere, center));
            let radius = at(offset_of!(Sphere, radius));
            let spheres = DeviceSpheres::new(self.count, center, radius)
                .with_velocity(at(offset_of!(Sphere, velocity)));
            let mut encoder = self.device.create_command_encoder(&Default::default());
            self.simulation.record(&mut encoder, &spheres, duration)?;
            let ticket = self.simulation.read_state(&mut encoder)?;
            self.queue.submit([encoder.finish()]);
            self.device.poll(wgpu::PollType::wait_indefinitely())?;
            let state = pollster::block_on(ticket.take())?;
            if state.remaining == 0.0 {
                return Ok(state);
            }
            duration = 0.0;
        }
        anyhow::bail!("the simulation stands still")
    }

    /// Returns the intended number of impacts of each sphere in one recording.
    pub(crate) fn impacts_per_recording(&self) -> f64 {
        self.impacts * f64::from(SUBSTEPS)
    }

    pub(crate) fn spheres(&self) -> anyhow::Result<Vec<HardSphere>> {
        let bytes = self.read(&self.spheres)?;
        let spheres: Vec<Sphere> = bytemuck::pod_collect_to_vec(&bytes);
        Ok(spheres.into_iter().map(HardSphere::from).collect())
    }

    fn read(&self, buffer: &wgpu::Buffer) -> anyhow::Result<Vec<u8>> {
        let copy = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("copy"),
            size: buffer.size(),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, buffer.size());
        self.queue.submit([encoder.finish()]);
        copy.map_async(wgpu::MapMode::Read, .., |_| {});
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        let mapped = copy
            .get_mapped_range(..)
            .map_err(|error| anyhow::anyhow!("{error}"))?;
        Ok(mapped.to_vec())
    }
}
