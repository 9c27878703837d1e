//! Simulates bouncing spheres on the GPU, and shows how to embed carom in an application that has its own
//! wgpu device.
//!
//! Each time step has three parts, which are recorded in one command encoder:
//! 1. carom reads the spheres from the application's buffers and computes each sphere's earliest
//!    impact.
//! 2. The application's shader `simulation.wgsl` reads these impacts, moves the spheres, and lets
//!    pairs of spheres bounce.
//! 3. The new positions and velocities are copied over the old ones.
//!
//! The host reads back only a summary of each step: the number of colliding pairs, and the times of carom's
//! stages.

use std::time::Duration;

use bytemuck::{Pod, Zeroable};

use carom::Step;
use carom::gpu::{
    Attribute, BufferOptions, CollisionBuffers, CollisionPipeline, DeviceSpheres, Readback,
    StepSummary, Ticket, WGSL, wgpu,
};

const WORKGROUP: u32 = 256;

/// Stride of the buffers of positions and of velocities, in bytes.
const SPHERE: u64 = size_of::<[f32; 4]>() as u64;

/// Time in seconds after which the glow of a sphere has decayed to 1/e.
const GLOW: f32 = 0.35;

/// The initial state of the simulation: spheres in a box from `-half` to `half`.
pub(crate) struct World {
    pub(crate) half: [f32; 3],
    /// Position x, y, z and radius of each sphere.
    pub(crate) positions: Vec<[f32; 4]>,
    /// Velocity x, y, z and glow of each sphere.
    pub(crate) velocities: Vec<[f32; 4]>,
}

#[derive(Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) dt: f32,
    /// Coefficient of restitution of a bounce: 1 conserves kinetic energy, 0 removes the speed of approach
    /// completely.
    pub(crate) restitution: f32,
    pub(crate) walls: bool,
}

/// Number of colliding pairs of a step, and the times of carom's stages. The host receives them some frames
/// later.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) pairs: u64,
    pub(crate) stages: Vec<(&'static str, Duration)>,
}

pub(crate) struct Simulation {
    device: wgpu::Device,
    /// Buffer of the current positions and radii, which carom, `simulation.wgsl` and the renderer read.
    pub(crate) positions: wgpu::Buffer,
    pub(crate) velocities: wgpu::Buffer,
    /// Separate buffers for the positions and velocities at the end of a step, because other invocations of
    /// the dispatch still read the current ones.
    new: [wgpu::Buffer; 2],
    count: u32,
    dt: f32,
    buffers: CollisionBuffers,
    bounce: wgpu::ComputePipeline,
    uniform: wgpu::Buffer,
    /// The bind group of the pipeline `bounce`. It contains one of carom's buffers, so it must be recreated
    /// after carom's buffers have grown.
    bound: Option<wgpu::BindGroup>,
    /// The readback of a step's summary that is in flight.
    ticket: Option<Ticket<StepSummary>>,
    report: Report,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Params {
    half: [f32; 3],
    dt: f32,
    count: u32,
    restitution: f32,
    walls: u32,
    fade: f32,
}

impl Simulation {
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        world: &World,
        rules: Rules,
    ) -> anyhow::Result<Self> {
        let count = u32::try_from(world.positions.len())?;
        let params = Params {
            half: world.half,
            dt: rules.dt,
            count,
            restitution: rules.restitution,
            walls: rules.walls.into(),
            fade: (-rules.dt / GLOW).exp(),
        };
        let size = SPHERE * u64::from(count);
        let [positions, velocities, new_positions, new_velocities] =
            ["positions", "velocities", "new positions", "new velocities"].map(|label| {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some(label),
                    size,
                    usage: wgpu::BufferUsages::STORAGE
                        | wgpu::BufferUsages::COPY_SRC
                        | wgpu::BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                })
            });
        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("params"),
            size: size_of::<Params>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        queue.write_buffer(&uniform, 0, bytemuck::bytes_of(&params));

        // Create one `CollisionPipeline` for each device, and one `CollisionBuffers` for each simulated set
        // of spheres. Several `CollisionBuffers` can share a pipeline.
        //
        // `BufferOptions::new` takes the largest number of spheres. `with_earliest` requests the earliest
        // impact of each sphere, which the shader reads. `with_timestamp_period` requests the times of
        // carom's stages, which need the device feature `TIMESTAMP_QUERY`. The function `report` grows the
        // buffer of pairs when a step finds more pairs.
        let pipeline = CollisionPipeline::new(device)?;
        let options = BufferOptions::new(count)
            .with_earliest()
            .with_timestamp_period(queue.get_timestamp_period());
        let buffers = pipeline.create_buffers(&options)?;

        // carom's constant `WGSL` declares the structs for reading carom's buffers in a shader. Append it
        // after the application's own shader text, so that compile errors keep the line numbers of the
        // application's file.
        let shader = [include_str!("simulation.wgsl"), WGSL].concat();
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("bounce"),
            source: wgpu::ShaderSource::Wgsl(shader.into()),
        });
        let bounce = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("bounce"),
            layout: None,
            module: &module,
            entry_point: Some("advance"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let mut simulation = Self {
            device: device.clone(),
            positions,
            velocities,
            new: [new_positions, new_velocities],
            count,
            dt: rules.dt,
            buffers,
            bounce,
            uniform,
            bound: None,
            ticket: None,
            report: Report::default(),
        };
        simulation.restart(queue, world);
        Ok(simulation)
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Puts the spheres back into the initial state `world`, which was passed to `new`.
    pub(crate) fn restart(&mut self, queue: &wgpu::Queue, world: &World) {
        self.ticket = None;
        self.report = Report::default();
        queue.write_buffer(&self.positions, 0, bytemuck::cast_slice(&world.positions));
        queue.write_buffer(&self.velocities, 0, bytemuck::cast_slice(&world.velocities));
    }

    /// Records a time step: carom's commands, the bounce shader, and the copy of the new positions and
    /// velocities over the old ones. Submit the encoder afterwards, then call [`report`](Self::report).
    pub(crate) fn step(&mut self, encoder: &mut wgpu::CommandEncoder) -> anyhow::Result<()> {
        // Describe where the spheres are. An `Attribute` is a buffer with an offset and a stride in bytes.
        // Positions and radii share a buffer here, and the radius is at byte 12 of each sphere's entry. carom
        // reads these buffers directly. They need the usage STORAGE.
        let spheres = DeviceSpheres::new(
            self.count,
            Attribute::new(&self.positions, 0, SPHERE),
            Attribute::new(&self.positions, 12, SPHERE),
        )
        .with_velocity(Attribute::new(&self.velocities, 0, SPHERE));
        // `CollisionBuffers::record` only adds commands to the encoder. It does not submit, poll or block.
        self.buffers
            .record(encoder, &Step::on_device(&spheres, self.dt))?;
        // Read back the summary of this step, unless the readback of an earlier summary is still in flight.
        if self.ticket.is_none() {
            self.ticket = Some(self.buffers.read_summary(encoder)?);
        }

        // A later pass in the same encoder can read carom's results.
        let bound = match self.bound.take() {
            Some(bound) => bound,
            None => self.bind()?,
        };
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("bounce"),
            timestamp_writes: None,
        });
        pass.set_pipeline(&self.bounce);
        pass.set_bind_group(0, &bound, &[]);
        pass.dispatch_workgroups(self.count.div_ceil(WORKGROUP), 1, 1);
        drop(pass);
        self.bound = Some(bound);
        let [new_positions, new_velocities] = &self.new;
        encoder.copy_buffer_to_buffer(new_positions, 0, &self.positions, 0, None);
        encoder.copy_buffer_to_buffer(new_velocities, 0, &self.velocities, 0, None);
        Ok(())
    }

    /// Creates the bind group for the shader `simulation.wgsl`.
    fn bind(&self) -> anyhow::Result<wgpu::BindGroup> {
        let [new_positions, new_velocities] = &self.new;
        let buffers = [
            &self.uniform,
            &self.positions,
            &self.velocities,
            self.buffers.earliest()?,
            new_positions,
            new_velocities,
        ];
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        Ok(self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("bounce"),
            layout: &self.bounce.get_bind_group_layout(0),
            entries: &entries,
        }))
    }

    /// Returns the latest pair count and stage times that have arrived, without waiting. A readback arrives
    /// when the device is polled, which each submit also does.
    pub(crate) fn report(&mut self) -> anyhow::Result<&Report> {
        if let Some(ticket) = self.ticket.take() {
            match ticket.try_take()? {
                Readback::Pending(ticket) => self.ticket = Some(ticket),
                Readback::Ready(summary) => {
                    // If a step finds more pairs than carom's buffer of pairs holds, some bounces of this
                    // step are missing. Grow the buffers for the following steps. If `grow` returns true,
                    // bind groups that contain carom's buffers must be recreated.
                    if let Some(required) = summary.required_capacity()
                        && self.buffers.grow(&required)?
                    {
                        self.bound = None;
                    }
                    self.report = Report {
                        pairs: summary.found,
                        stages: summary.stages,
                    };
                }
            }
        }
        Ok(&self.report)
    }
}
