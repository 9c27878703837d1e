//! A hundred thousand spheres that bounce, wholly on the GPU: carom finds who
//! touches whom first, straight from this program's buffers, and a shader of
//! this program bounces them. Nothing is read back but the counts.

use std::time::Duration;

use bytemuck::{Pod, Zeroable};

use carom::Step;
use carom::gpu::{
    Attribute, BufferOptions, CollisionBuffers, CollisionPipeline, DeviceSpheres, Readback,
    StepSummary, Ticket, WGSL, wgpu,
};

/// As in `simulation.wgsl`.
const WORKGROUP: u32 = 256;

/// Bytes of a position, and of a velocity.
const SPHERE: u64 = size_of::<[f32; 4]>() as u64;

/// After so many seconds of the simulation a glow has lost most of itself.
const GLOW: f32 = 0.35;

/// Spheres in a box from `-half` to `half`.
pub(crate) struct World {
    pub(crate) half: [f32; 3],
    /// x, y, z, radius
    pub(crate) positions: Vec<[f32; 4]>,
    /// x, y, z, glow
    pub(crate) velocities: Vec<[f32; 4]>,
}

/// What holds of every step.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) dt: f32,
    /// 1 keeps energy, 0 keeps none of the approach.
    pub(crate) restitution: f32,
    pub(crate) walls: bool,
}

/// What carom tells of a step some frames ago.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) pairs: u64,
    pub(crate) stages: Vec<(&'static str, Duration)>,
}

pub(crate) struct Simulation {
    device: wgpu::Device,
    /// Of the spheres, as they are; to be drawn from, too.
    pub(crate) positions: wgpu::Buffer,
    pub(crate) velocities: wgpu::Buffer,
    /// Where a step writes, as neighbours still read the old state.
    new: [wgpu::Buffer; 2],
    count: u32,
    dt: f32,
    buffers: CollisionBuffers,
    bounce: wgpu::ComputePipeline,
    uniform: wgpu::Buffer,
    /// What the bounce reads and writes; made anew when carom's buffers have grown.
    bound: Option<wgpu::BindGroup>,
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

        // With more worlds than this one, they would share the pipeline.
        let pipeline = CollisionPipeline::new(device)?;
        let options = BufferOptions::new(count)
            .with_earliest()
            .with_timestamp_period(queue.get_timestamp_period());
        let buffers = pipeline.create_buffers(&options)?;

        // Our shader, then carom's structs: so errors have the lines of our file.
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

    /// Puts the spheres where they began. `world` is the one it was made with.
    pub(crate) fn restart(&mut self, queue: &wgpu::Queue, world: &World) {
        self.ticket = None;
        self.report = Report::default();
        queue.write_buffer(&self.positions, 0, bytemuck::cast_slice(&world.positions));
        queue.write_buffer(&self.velocities, 0, bytemuck::cast_slice(&world.velocities));
    }

    /// Records a step: carom's work, the bounce, and the copy of the new state
    /// over the old one. Submit it, then ask for the [report](Self::report).
    pub(crate) fn step(&mut self, encoder: &mut wgpu::CommandEncoder) -> anyhow::Result<()> {
        // No copy is made: carom reads these very buffers.
        let spheres = DeviceSpheres::new(
            self.count,
            Attribute::new(&self.positions, 0, SPHERE),
            Attribute::new(&self.positions, 12, SPHERE),
        )
        .with_velocity(Attribute::new(&self.velocities, 0, SPHERE));
        self.buffers
            .record(encoder, &Step::on_device(&spheres, self.dt))?;
        if self.ticket.is_none() {
            self.ticket = Some(self.buffers.read_summary(encoder)?);
        }

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

    /// The latest counts and times that have come back. Never waits.
    pub(crate) fn report(&mut self) -> anyhow::Result<&Report> {
        if let Some(ticket) = self.ticket.take() {
            match ticket.try_take()? {
                Readback::Pending(ticket) => self.ticket = Some(ticket),
                Readback::Ready(summary) => {
                    // A step had more pairs than there was room for: some bounces
                    // were missed, the next ones will not be.
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
