//! Simulates bouncing spheres on the GPU, and shows how to embed carom in an application that has its own
//! wgpu device.
//!
//! Each time step has three parts, which are recorded in one command encoder:
//! 1. carom reads the spheres from the application's buffers, and finds the spheres and walls that
//!    each sphere touches.
//! 2. The application's shader `simulation.wgsl` reads these impacts, moves the spheres, and lets
//!    them bounce off each other and off the walls.
//! 3. The new positions and velocities are copied over the old ones.
//!
//! The host reads back only a summary of each step: the number of colliding pairs, and the times of carom's
//! stages.

use std::time::Duration;

use bytemuck::{Pod, Zeroable};

use carom::gpu::{
    Attribute, BufferOptions, CollisionBuffers, CollisionPipeline, DeviceSpheres, Readback,
    StepSummary, Ticket, WGSL, wgpu,
};
use carom::{Step, Walls};

const WORKGROUP: u32 = 256;

/// Stride of the buffers of positions and of velocities, in bytes.
const SPHERE: u64 = size_of::<[f32; 4]>() as u64;

/// Size of carom's struct `CaromWallCollision` and of the struct `Meeting` of `simulation.wgsl`, in bytes.
const WALL_COLLISION: u64 = 16;
const MEETING: u64 = 32;

/// Time in seconds after which the glow of a sphere has decayed to 1/e.
const GLOW: f32 = 0.35;

/// What the simulation starts with: the walls, and the positions, radii and velocities of the spheres.
pub(crate) struct World {
    /// Half the sides of the box that is drawn around the spheres, from `-half` to `half`.
    pub(crate) half: [f32; 3],
    /// The six walls of the box, and a mesh.
    pub(crate) walls: Walls,
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
    /// For each sphere, the index of its first meeting with a wall: see `simulation.wgsl`.
    heads: wgpu::Buffer,
    walls: Walls,
    count: u32,
    dt: f32,
    buffers: CollisionBuffers,
    meet_walls: wgpu::ComputePipeline,
    advance: wgpu::ComputePipeline,
    uniform: wgpu::Buffer,
    /// The bind groups of the pipelines `meet_walls` and `advance`. They contain carom's buffers, so they must
    /// be recreated after carom's buffers have grown.
    bound: Option<[wgpu::BindGroup; 2]>,
    /// The readback of a step's summary that is in flight.
    ticket: Option<Ticket<StepSummary>>,
    report: Report,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Params {
    dt: f32,
    count: u32,
    restitution: f32,
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
            dt: rules.dt,
            count,
            restitution: rules.restitution,
            fade: (-rules.dt / GLOW).exp(),
        };
        let per_sphere = |label, stride| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: stride * u64::from(count),
                usage: wgpu::BufferUsages::STORAGE
                    | wgpu::BufferUsages::COPY_SRC
                    | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
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
        // impact of each sphere, which the shader reads. `with_walls` and `with_triangles` take the largest
        // numbers of walls of simple shapes and of triangles. `with_timestamp_period` requests the times of
        // carom's stages, which need the device feature `TIMESTAMP_QUERY`. The function `report` grows the
        // lists of pairs and of wall collisions when a step finds more.
        let pipeline = CollisionPipeline::new(device)?;
        let walls = world.walls.simple().len();
        let triangles = world.walls.len() - walls;
        let options = BufferOptions::new(count)
            .with_earliest()
            .with_walls(u32::try_from(walls)?)
            .with_triangles(u32::try_from(triangles)?)
            .with_timestamp_period(queue.get_timestamp_period());
        let buffers = pipeline.create_buffers(&options)?;

        // carom's constant `WGSL` declares the structs for reading carom's buffers in a shader. Append it
        // after the application's own shader text, so that compile errors keep the line numbers of the
        // application's file.
        let shader = [include_str!("simulation.wgsl"), WGSL].concat();
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("simulation"),
            source: wgpu::ShaderSource::Wgsl(shader.into()),
        });
        let compute = |entry_point| {
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry_point),
                layout: None,
                module: &module,
                entry_point: Some(entry_point),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            })
        };
        let mut simulation = Self {
            device: device.clone(),
            positions: per_sphere("positions", SPHERE),
            velocities: per_sphere("velocities", SPHERE),
            new: ["new positions", "new velocities"].map(|label| per_sphere(label, SPHERE)),
            heads: per_sphere("heads", size_of::<u32>() as u64),
            walls: world.walls.clone(),
            count,
            dt: rules.dt,
            buffers,
            meet_walls: compute("meet_walls"),
            advance: compute("advance"),
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

    pub(crate) fn triangle_count(&self) -> u32 {
        self.buffers.options().triangles
    }

    /// Returns carom's buffer of the triangles of the mesh, from which the renderer draws it.
    pub(crate) fn triangles(&self) -> anyhow::Result<&wgpu::Buffer> {
        Ok(self.buffers.wall_triangles()?)
    }

    /// Puts the spheres back into the initial state `world`, which was passed to `new`.
    pub(crate) fn restart(&mut self, queue: &wgpu::Queue, world: &World) {
        self.ticket = None;
        self.report = Report::default();
        queue.write_buffer(&self.positions, 0, bytemuck::cast_slice(&world.positions));
        queue.write_buffer(&self.velocities, 0, bytemuck::cast_slice(&world.velocities));
    }

    /// Records a time step: carom's commands, the application's shaders, and the copy of the new positions and
    /// velocities over the old ones. Submit the encoder afterwards, then call [`report`](Self::report).
    pub(crate) fn step(&mut self, encoder: &mut wgpu::CommandEncoder) -> anyhow::Result<()> {
        // An `Attribute` tells carom where a quantity of each sphere is: in which buffer, at which offset,
        // and with which stride in bytes. In this example, positions and radii share a buffer, and the radius
        // is at byte 12 of each sphere's entry. carom reads the buffers directly, so they need the usage
        // STORAGE.
        let spheres = DeviceSpheres::new(
            self.count,
            Attribute::new(&self.positions, 0, SPHERE),
            Attribute::new(&self.positions, 12, SPHERE),
        )
        .with_velocity(Attribute::new(&self.velocities, 0, SPHERE));
        // `CollisionBuffers::record` only adds commands to the encoder. It does not submit, poll or block. The
        // walls may move, and differ from step to step, but in this example they are always the same and at
        // rest.
        let step = Step::on_device(&spheres, self.dt).with_walls(&self.walls);
        self.buffers.record(encoder, &step)?;
        // Read back the summary of this step, unless the readback of an earlier summary is still in flight.
        if self.ticket.is_none() {
            self.ticket = Some(self.buffers.read_summary(encoder)?);
        }

        // A later pass in the same encoder can read carom's results.
        let bound = match self.bound.take() {
            Some(bound) => bound,
            None => self.bind()?,
        };
        let [walls, spheres] = &bound;
        encoder.clear_buffer(&self.heads, 0, None);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("bounce"),
            timestamp_writes: None,
        });
        // Only the GPU knows the number of wall collisions, so it also sets the number of workgroups.
        pass.set_pipeline(&self.meet_walls);
        pass.set_bind_group(0, walls, &[]);
        pass.dispatch_workgroups_indirect(self.buffers.wall_dispatch()?, 0);
        pass.set_pipeline(&self.advance);
        pass.set_bind_group(0, spheres, &[]);
        pass.dispatch_workgroups(self.count.div_ceil(WORKGROUP), 1, 1);
        drop(pass);
        self.bound = Some(bound);
        let [new_positions, new_velocities] = &self.new;
        encoder.copy_buffer_to_buffer(new_positions, 0, &self.positions, 0, None);
        encoder.copy_buffer_to_buffer(new_velocities, 0, &self.velocities, 0, None);
        Ok(())
    }

    /// Creates the bind groups for the two entry points of the shader `simulation.wgsl`.
    fn bind(&self) -> anyhow::Result<[wgpu::BindGroup; 2]> {
        let wall_collisions = self.buffers.wall_collisions()?;
        let meetings = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("meetings"),
            size: wall_collisions.size() / WALL_COLLISION * MEETING,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        });
        let [new_positions, new_velocities] = &self.new;
        // The index of a buffer in this list is its binding in the shader.
        let buffers = [
            &self.uniform,
            &self.positions,
            &self.velocities,
            self.buffers.results(),
            self.buffers.earliest()?,
            wall_collisions,
            self.buffers.wall_shapes()?,
            self.buffers.wall_triangles()?,
            &self.heads,
            &meetings,
            new_positions,
            new_velocities,
        ];
        let bind = |pipeline: &wgpu::ComputePipeline, bindings: &[u32]| {
            let entries: Vec<_> = bindings
                .iter()
                .map(|&binding| wgpu::BindGroupEntry {
                    binding,
                    resource: buffers[binding as usize].as_entire_binding(),
                })
                .collect();
            self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("bounce"),
                layout: &pipeline.get_bind_group_layout(0),
                entries: &entries,
            })
        };
        Ok([
            bind(&self.meet_walls, &[1, 2, 3, 5, 6, 7, 8, 9]),
            bind(&self.advance, &[0, 1, 2, 3, 4, 8, 9, 10, 11]),
        ])
    }

    /// Returns the latest pair count and stage times that have arrived, without waiting. A readback arrives
    /// when the device is polled, which each submit also does.
    pub(crate) fn report(&mut self) -> anyhow::Result<&Report> {
        if let Some(ticket) = self.ticket.take() {
            match ticket.try_take()? {
                Readback::Pending(ticket) => self.ticket = Some(ticket),
                Readback::Ready(summary) => {
                    // If a step finds more than carom's buffers hold, the shader moves no sphere. Grow the
                    // buffers for the following steps. If `grow` returns true, bind groups that contain
                    // carom's buffers must be recreated.
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
