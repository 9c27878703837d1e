//! Moves hard spheres on the GPU, and shows how to embed carom in an application that has its own wgpu device.
//!
//! Each frame has two parts, which are recorded in one command encoder:
//! 1. carom moves the spheres in the application's buffers: every impact happens at its time.
//! 2. The application's shader `glow.wgsl` compares the velocities before and after, and lets the spheres glow that
//!    bounced.
//!
//! The host reads back only the state of the simulation: the time reached, and the number of impacts.

use bytemuck::{Pod, Zeroable};

use carom::gpu::{
    Attribute, CollisionPipeline, DeviceSpheres, SimulationBufferOptions, SimulationBuffers,
    SimulationState, Ticket, wgpu,
};
use carom::{SimulationOptions, Walls};

const WORKGROUP: u32 = 256;

/// Stride of the buffers of spheres, in bytes.
const SPHERE: u64 = size_of::<[f32; 4]>() as u64;

/// Time in seconds after which the glow of a sphere has decayed to 1/e.
const GLOW: f32 = 0.35;

/// Largest number of substeps in a frame. If a frame needs more to simulate its time, it shows the
/// spheres at the time that they have reached, and the next frame simulates the rest.
const SUBSTEPS: u32 = 3;

/// What the simulation starts with: the walls, and the positions, radii and velocities of the spheres.
pub(crate) struct World {
    /// Half the length of each side of the box around the spheres. The box extends from `-half` to
    /// `half`.
    pub(crate) half: [f32; 3],
    /// The six walls of the box, and a mesh.
    pub(crate) walls: Walls,
    /// Position x, y, z and radius of each sphere.
    pub(crate) positions: Vec<[f32; 4]>,
    /// Velocity x, y, z of each sphere, and its inverse mass.
    pub(crate) velocities: Vec<[f32; 4]>,
}

#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// Simulated time of a frame in seconds.
    pub(crate) dt: f32,
    /// Coefficient of restitution of a bounce: 1 conserves kinetic energy, 0 removes the speed of approach
    /// completely.
    pub(crate) restitution: f32,
    pub(crate) gravity: [f64; 3],
}

pub(crate) struct Simulation {
    /// Positions and radii, which carom and the renderer read.
    pub(crate) positions: wgpu::Buffer,
    /// Velocities and inverse masses.
    pub(crate) velocities: wgpu::Buffer,
    /// Velocity (xyz) and glow (w) of each sphere, which the renderer reads.
    pub(crate) glowing: wgpu::Buffer,
    /// The corners of the triangles of the mesh, which the renderer reads.
    pub(crate) triangles: wgpu::Buffer,
    triangle_count: u32,
    count: u32,
    dt: f32,
    pub(crate) buffers: SimulationBuffers,
    glow: wgpu::ComputePipeline,
    bound: wgpu::BindGroup,
    /// Whether the next frame begins at time 0.
    restarts: bool,
    /// The unfinished readback of the simulation's state, if there is one.
    ticket: Option<Ticket<SimulationState>>,
    report: SimulationState,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Params {
    count: u32,
    fade: f32,
}

impl Simulation {
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        world: &World,
        rules: Rules,
    ) -> anyhow::Result<Self> {
        use wgpu::BufferUsages as Usage;
        let count = u32::try_from(world.positions.len())?;
        let buffer = |label, size, usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage: usage | Usage::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let stored = Usage::STORAGE | Usage::COPY_SRC;
        let per_sphere = |label| buffer(label, SPHERE * u64::from(count), stored);
        let [positions, velocities, glowing] =
            ["positions", "velocities", "glowing"].map(per_sphere);
        let corners: Vec<[f32; 4]> = (world.walls.meshes().iter())
            .flat_map(|mesh| {
                let all = mesh.triangles().iter().flatten();
                all.map(|&corner| mesh.vertices()[corner as usize])
            })
            .map(|[x, y, z]| [x, y, z, 1.0])
            .collect();
        let bytes: &[u8] = bytemuck::cast_slice(&corners);
        let triangles = buffer("triangles", bytes.len() as u64, stored);
        queue.write_buffer(&triangles, 0, bytes);
        let params = Params {
            count,
            fade: (-rules.dt / GLOW).exp(),
        };
        let uniform = buffer("params", size_of::<Params>() as u64, Usage::UNIFORM);
        queue.write_buffer(&uniform, 0, bytemuck::bytes_of(&params));

        // Create one `CollisionPipeline` for each device, and one `SimulationBuffers` for each
        // simulated set of spheres. All simulations on a device can share its pipeline. The option
        // `with_contact_time` is necessary because inelastic spheres would otherwise have
        // infinitely many impacts in a finite time.
        let pipeline = CollisionPipeline::new(device)?;
        let options = SimulationOptions::new()
            .with_walls(world.walls.clone())
            .with_restitution(rules.restitution.into())
            .with_wall_restitution(rules.restitution.into())
            .with_gravity(rules.gravity)
            .with_contact_time(f64::from(rules.dt) / 16.0);
        let options = SimulationBufferOptions::new(count)
            .with_substeps(SUBSTEPS)
            .with_simulation(options);
        let buffers = pipeline.create_simulation(&options)?;

        let module = device.create_shader_module(wgpu::include_wgsl!("glow.wgsl"));
        let glow = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("glow"),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let entries: Vec<_> = (0..)
            .zip([&uniform, &velocities, &glowing])
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let bound = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("glow"),
            layout: &glow.get_bind_group_layout(0),
            entries: &entries,
        });
        let mut simulation = Self {
            positions,
            velocities,
            glowing,
            triangles,
            triangle_count: u32::try_from(corners.len() / 3)?,
            count,
            dt: rules.dt,
            buffers,
            glow,
            bound,
            restarts: false,
            ticket: None,
            report: SimulationState::default(),
        };
        simulation.restart(queue, world);
        Ok(simulation)
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn triangle_count(&self) -> u32 {
        self.triangle_count
    }

    /// Puts the spheres back into the initial state `world`, which was passed to `new`, at time 0.
    pub(crate) fn restart(&mut self, queue: &wgpu::Queue, world: &World) {
        self.ticket = None;
        self.report = SimulationState::default();
        self.restarts = true;
        let glowing: Vec<_> = (world.velocities.iter())
            .map(|&[x, y, z, _]| [x, y, z, 0.0])
            .collect();
        queue.write_buffer(&self.positions, 0, bytemuck::cast_slice(&world.positions));
        queue.write_buffer(&self.velocities, 0, bytemuck::cast_slice(&world.velocities));
        queue.write_buffer(&self.glowing, 0, bytemuck::cast_slice(&glowing));
    }

    /// Records a frame: carom's commands, and the application's shader. Submit the encoder afterwards, then call
    /// [`report`](Self::report).
    pub(crate) fn step(&mut self, encoder: &mut wgpu::CommandEncoder) -> anyhow::Result<()> {
        // An `Attribute` tells carom where a quantity of each sphere is: in which buffer, at which offset,
        // and with which stride in bytes. In this example, positions and radii share a buffer, and the radius
        // is at byte 12 of each sphere's entry. carom reads and writes the buffers directly, so they need the
        // usage STORAGE.
        let spheres = DeviceSpheres::new(
            self.count,
            Attribute::new(&self.positions, 0, SPHERE),
            Attribute::new(&self.positions, 12, SPHERE),
        )
        .with_velocity(Attribute::new(&self.velocities, 0, SPHERE))
        .with_inverse_mass(Attribute::new(&self.velocities, 12, SPHERE));
        // A state of zeros is that of a simulation which has not begun.
        if std::mem::take(&mut self.restarts) {
            encoder.clear_buffer(self.buffers.state(), 0, None);
        }
        // `SimulationBuffers::record` only adds commands to the encoder. It does not submit, poll
        // or block. When the commands run, the GPU simulates the time `dt`, and any time that
        // earlier frames have not completed.
        self.buffers.record(encoder, &spheres, self.dt)?;
        // The state is copied to the host, unless an earlier copy is still in flight.
        if self.ticket.is_none() {
            self.ticket = Some(self.buffers.read_state(encoder)?);
        }

        // A later pass in the same encoder can read the new positions and velocities.
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("glow"),
            timestamp_writes: None,
        });
        pass.set_pipeline(&self.glow);
        pass.set_bind_group(0, &self.bound, &[]);
        pass.dispatch_workgroups(self.count.div_ceil(WORKGROUP), 1, 1);
        Ok(())
    }

    /// Returns the latest state that has arrived, without waiting. A readback arrives when the device is polled,
    /// which each submit also does.
    pub(crate) fn report(&mut self) -> anyhow::Result<&SimulationState> {
        if let Some(mut ticket) = self.ticket.take() {
            match ticket.try_take()? {
                None => self.ticket = Some(ticket),
                Some(state) => self.report = state,
            }
        }
        Ok(&self.report)
    }
}
