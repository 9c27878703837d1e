//! Collision detection on the GPU, for an application that has its own wgpu device.
//!
//! carom records its compute passes into the application's command encoder, and reads the spheres
//! from the application's GPU buffers. The pairs are in GPU buffers, and can be read back.
//!
//! ```no_run
//! use carom::{Error, Step};
//! use carom::gpu::{
//!     Attribute, BufferOptions, CollisionBuffers, CollisionPipeline, DeviceSpheres,
//!     ExactCollisions, Ticket, wgpu,
//! };
//!
//! /// Called once. One pipeline serves a device, and one `CollisionBuffers` serves a world.
//! fn start(device: &wgpu::Device, count: u32) -> Result<CollisionBuffers, Error> {
//!     let pipeline = CollisionPipeline::new(device)?;
//!     pipeline.create_buffers(&BufferOptions::new(count).with_earliest())
//! }
//!
//! /// Called each frame. The buffer `position` holds x, y, z and radius of each sphere in 16
//! /// bytes. The buffer `velocity` holds the velocity of each sphere in 16 bytes. Offsets and
//! /// strides are in bytes. `waiting` holds a readback in flight from frame to frame.
//! fn frame(
//!     device: &wgpu::Device,
//!     queue: &wgpu::Queue,
//!     buffers: &mut CollisionBuffers,
//!     [position, velocity]: [&wgpu::Buffer; 2],
//!     count: u32,
//!     dt: f32,
//!     waiting: &mut Option<Ticket<ExactCollisions>>,
//! ) -> Result<(), Box<dyn std::error::Error>> {
//!     let center = Attribute::new(position, 0, 16);
//!     let radius = Attribute::new(position, 12, 16);
//!     let spheres = DeviceSpheres::new(count, center, radius)
//!         .with_velocity(Attribute::new(velocity, 0, 16));
//!     let mut encoder = device.create_command_encoder(&Default::default());
//!     buffers.record(&mut encoder, &Step::on_device(spheres, dt))?;
//!     // … the application's own passes that read buffers.earliest() or buffers.pairs() …
//!
//!     // Read the list back, if the host needs it, too. (read_summary costs next to nothing, and
//!     // shows whether the list had room for every pair.)
//!     if waiting.is_none() {
//!         *waiting = Some(buffers.read_exact(&mut encoder)?);
//!     }
//!     queue.submit([encoder.finish()]);
//!
//!     // The list arrives some frames later, during a poll. Neither call below waits for it.
//!     device.poll(wgpu::PollType::Poll)?;
//!     let Some(mut ticket) = waiting.take() else { return Ok(()) };
//!     match ticket.try_take() {
//!         // The list has not arrived. Try again in the next frame.
//!         Ok(None) => *waiting = Some(ticket),
//!         Ok(Some(step)) => println!("{} pairs", step.collisions.pairs.len()),
//!         // The buffers were too small for that step. Make them larger for the next steps.
//!         Err(Error::Truncated { required, .. }) => {
//!             if buffers.grow(&required)? {
//!                 // … recreate the bind groups that contain carom's buffers …
//!             }
//!         }
//!         Err(error) => return Err(error.into()),
//!     }
//!     Ok(())
//! }
//! ```
//!
//! [`CollisionBuffers::record`] accepts spheres in GPU buffers of the application
//! ([`Step::on_device`](crate::Step::on_device)) or in host memory
//! ([`Step::new`](crate::Step::new)). It never submits, polls or blocks, does not use the queue,
//! and creates a buffer only if it cannot reuse one. Several time steps may be recorded before one
//! submission, each with its own spheres and its own length. A recording that fails leaves the
//! encoder unchanged.
//!
//! [`wgpu`] is a re-export of the crate that carom uses, with Vulkan, Metal, DX12 and WGSL if
//! carom's feature `native` is enabled. A program that depends on wgpu 30 itself gets the same
//! crate.
//!
//! # Where waiting is not allowed
//!
//! No function of this module blocks the thread. In a browser, a GPU device reports errors only
//! after the call has returned to the event loop. So errors of [`CollisionPipeline::new`],
//! [`create_buffers`](CollisionPipeline::create_buffers),
//! [`create_simulation`](CollisionPipeline::create_simulation) and [`CollisionBuffers::grow`] are
//! returned by a later call to carom. [`CollisionPipeline::new_async`],
//! [`create_buffers_async`](CollisionPipeline::create_buffers_async),
//! [`create_simulation_async`](CollisionPipeline::create_simulation_async) and
//! [`CollisionBuffers::grow_async`] await their own errors, and [`Ticket::take`] awaits results.
//!
//! # Shaders that read the results
//!
//! The constant [`WGSL`] contains the structs and functions with which a shader reads carom's
//! results. Append it to the shader's own text, so that compile errors show the shader's own line
//! numbers. Only the GPU knows the number of pairs, so dispatch a pass over the pairs indirectly,
//! with the arguments in [`dispatch`](CollisionBuffers::dispatch):
//!
//! ```
//! # use carom::gpu::{BufferOptions, CollisionBuffers, CollisionPipeline, WGSL, wgpu};
//! # let (device, _queue) = wgpu::Device::noop(&Default::default());
//! # let mut buffers = CollisionPipeline::new(&device)?.create_buffers(&BufferOptions::new(9))?;
//! # let touched = &device.create_buffer(&wgpu::BufferDescriptor { label: None, size: 36,
//! #     usage: wgpu::BufferUsages::STORAGE, mapped_at_creation: false });
//! # let mut encoder = device.create_command_encoder(&Default::default());
//! # buffers.record(&mut encoder, &carom::Step::new(&[], 1.0))?;
//! let shader = ["
//!     @group(0) @binding(0) var<storage, read> results: CaromResults;
//!     @group(0) @binding(1) var<storage, read> pairs: array<CaromCollision>;
//!     // One word for each sphere, 0 before the pass.
//!     @group(0) @binding(2) var<storage, read_write> touched: array<atomic<u32>>;
//!     const SURELY = 1u;
//!     const PERHAPS = 2u;
//!
//!     @compute @workgroup_size(CAROM_WORKGROUP)
//!     fn main(
//!         @builtin(workgroup_id) workgroup: vec3<u32>,
//!         @builtin(local_invocation_index) local: u32,
//!     ) {
//!         let i = carom_index(results.columns, workgroup, local);
//!         if i >= results.pairs {
//!             return;
//!         }
//!         let a = pairs[i].a;
//!         let b = results.b_offset + carom_b(pairs[i]);
//!         // A grazing pair counts as touching, so a sphere is touched if its word is not 0.
//!         // The list may contain a grazing pair several times. So the shader sets bits, which
//!         // may be set twice, and does not count.
//!         let mark = select(SURELY, PERHAPS, carom_is_grazing(pairs[i]));
//!         atomicOr(&touched[a], mark);
//!         atomicOr(&touched[b], mark);
//!     }
//! ", WGSL].concat();
//! # let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
//! #     label: None, source: wgpu::ShaderSource::Wgsl(shader.into()) });
//! # let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
//! #     label: None, layout: None, module: &module, entry_point: None,
//! #     compilation_options: Default::default(), cache: None });
//! // … Once, create a module of this text, and a compute pipeline. Create the bind group at first,
//! // and again each time that buffers.grow() has returned true:
//! let bound = device.create_bind_group(&wgpu::BindGroupDescriptor {
//!     label: None,
//!     layout: &pipeline.get_bind_group_layout(0),
//!     entries: &[
//!         wgpu::BindGroupEntry { binding: 0, resource: buffers.results().as_entire_binding() },
//!         wgpu::BindGroupEntry { binding: 1, resource: buffers.pairs().as_entire_binding() },
//!         wgpu::BindGroupEntry { binding: 2, resource: touched.as_entire_binding() },
//!     ],
//! });
//! // Each frame, after buffers.record():
//! let mut pass = encoder.begin_compute_pass(&Default::default());
//! pass.set_pipeline(&pipeline);
//! pass.set_bind_group(0, &bound, &[]);
//! pass.dispatch_workgroups_indirect(buffers.dispatch(), 0);
//! # drop(pass);
//! # encoder.finish();
//! # Ok::<(), carom::Error>(())
//! ```
//!
//! With [`BufferOptions::with_contacts`], a shader can loop over all pairs of sphere `i`. In this loop, `other` is
//! the sphere that touches sphere `i`:
//!
//! ```wgsl
//! for (var k = contact_offsets[i]; k < contact_offsets[i + 1u]; k++) {
//!     let collision = sorted[contact_indices[k]];
//!     let other = select(collision.a, carom_b(collision), collision.a == i);
//! }
//! ```
//!
//! # Pairs on the GPU
//!
//! The buffer [`pairs`](CollisionBuffers::pairs) contains every pair of spheres that touch during
//! the step. The device itself decides this exactly, with integers: each pair that is not marked
//! as grazing touches, is listed once, and has the time of impact and the depth that
//! [`Detector`](crate::Detector) returns, bit for bit.
//!
//! Together with the first recording, the device decides some pairs whose results carom knows, to find errors of its
//! driver. Until it has passed this test, which the host learns when the device is polled, all pairs are marked as
//! grazing, and some of them may not touch. If it fails, this remains so, and the log says it.
//!
//! Otherwise, a few pairs are marked by a flag as grazing. There are two kinds of them:
//!
//! - The integers of the device are too short for the pair, or its result is too close to the middle
//!   between two float32 numbers. Such a pair may not touch. Usually there are next to none, but
//!   in a world of subnormal numbers most pairs are of this kind.
//! - The path of a fast sphere is divided into time segments, and float32 cannot decide in which
//!   segments two spheres come closest. Such a pair may be in the list several times.
//!
//! A shader should treat grazing pairs as touching. Let d be the distance of the two centres at the
//! start of the step, and r the sum of the radii. At the time of impact `toi` of a grazing pair, the
//! gap between the two spheres is at most 2⁻¹⁹ · (d + r). Its depth of penetration has the same error
//! bound.
//!
//! [`read_exact`](CollisionBuffers::read_exact) returns the same list as
//! [`Detector`](crate::Detector), because the host decides every grazing pair exactly.
//!
//! # Walls on the GPU
//!
//! In buffers with [`BufferOptions::with_walls`] and [`BufferOptions::with_triangles`], a step may
//! have walls ([`Step::with_walls`](crate::Step::with_walls)): half-spaces, spheres and cylinders, and
//! meshes of triangles.
//! [`wall_collisions`](CollisionBuffers::wall_collisions) then contains every sphere that touches a
//! wall, with a flag for grazing ones as in the list of pairs, and
//! [`earliest`](CollisionBuffers::earliest) covers walls, too. In a shader, the functions
//! `carom_wall_contact()` and `carom_triangle_contact()` of [`WGSL`] compute the contact point, the
//! normal, the approach speed, and the face, edge or corner that is touched.
//!
//! # Hard-sphere dynamics on the GPU
//!
//! [`CollisionPipeline::create_simulation`] creates a [`SimulationBuffers`], which moves hard spheres in
//! the application's buffers through time. Shaders find the time reached in its
//! [`state`](SimulationBuffers::state), a `CaromSimulation` of [`WGSL`]. On request, they also find the impacts of a
//! recording in [`impacts`](SimulationBuffers::impacts).
//!
//! # Buffers that are too small
//!
//! A step that finds more pairs than the buffer of pairs can hold still counts all of them. The
//! buffer [`results`](CollisionBuffers::results) has the numbers of pairs found and stored, and the
//! [`Status`] has [`TRUNCATED`](Status::TRUNCATED). Shaders see only the stored pairs. The host
//! never receives an incomplete list: the error
//! [`Error::Truncated`](crate::Error::Truncated) and [`StepSummary::required_capacity`] contain the
//! [`Capacity`] that the step needs instead, for which [`grow`](CollisionBuffers::grow) makes room. The same applies
//! to wall collisions, with
//! [`WALLS_TRUNCATED`](Status::WALLS_TRUNCATED) and [`MESH_TRUNCATED`](Status::MESH_TRUNCATED).
//!
//! The host gives a number of spheres as the `count` of [`DeviceSpheres::new`] or as the length of
//! [`Spheres`](crate::Spheres). If it exceeds the capacity, recording the step returns an error. If
//! the number that the GPU reads from a buffer ([`DeviceSpheres::with_count_in`]) exceeds `count`,
//! the step finds no pairs, and its [`Status`] has [`TOO_MANY_SPHERES`](Status::TOO_MANY_SPHERES).
//!
//! # When the device is lost
//!
//! Calls return [`Error::DeviceLost`](crate::Error::DeviceLost) as soon as wgpu reports the loss of
//! the GPU device to carom, perhaps some frames later. Create a new pipeline and new buffers on a
//! new device.

#![allow(
    clippy::cast_possible_truncation,
    reason = "element counts are checked against the device's buffer limits, far below 2³²"
)]

mod collide;
#[cfg(test)]
mod decide_on_gpu;
mod detector_backend;
mod device;
#[cfg(test)]
pub(crate) mod filter_on_gpu;
mod input;
mod pipeline;
mod results;
mod self_test;
mod simulate;
#[cfg(test)]
mod wiring_tests;

pub use collide::collision_buffers::CollisionBuffers;
pub use collide::options::BufferOptions;
pub use collide::record::RecordableSpheres;
pub(crate) use detector_backend::Gpu;
/// The compute kernels. Public only for `crates/shader-stats`, which lists each kernel's registers
/// and instructions.
#[doc(hidden)]
pub use device::shader::kernels::{Kernel, all as kernels};
pub use input::device_spheres::{Attribute, DeviceSpheres};
pub use pipeline::CollisionPipeline;
pub use results::capacity::Capacity;
pub use results::pair_list::{ExactCollisions, RawCollisions};
pub use results::status::Status;
pub use results::summary::StepSummary;
pub use results::ticket::Ticket;
pub use simulate::simulation::SimulationBuffers;
pub use simulate::simulation_options::SimulationBufferOptions;
pub use simulate::simulation_state::{SimulationImpacts, SimulationState, SimulationStatus};
pub use wgpu;

/// WGSL text with the structs and functions for shaders that read carom's results: see [the
/// module](self).
///
/// Append this text, which begins with a line break, to the shader's own text. Then compile errors
/// show the shader's own line numbers, and its directives stay at the beginning.
///
/// ```wgsl
#[doc = include_str!("../../shaders/shared/carom.wgsl")]
/// ```
pub const WGSL: &str = concat!("\n", include_str!("../../shaders/shared/carom.wgsl"));
