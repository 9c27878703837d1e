//! carom inside a program that has a wgpu device of its own: recorded into its
//! command encoder, fed from its buffers, with results that stay on the GPU.
//!
//! ```no_run
//! use carom::Step;
//! use carom::gpu::{
//!     Attribute, BufferOptions, CollisionBuffers, CollisionPipeline, DeviceSpheres, ExactStep,
//!     PairList, Readback, Ticket, wgpu,
//! };
//!
//! /// Once: a pipeline for each device, buffers for each world.
//! fn start(device: &wgpu::Device, count: u32) -> Result<CollisionBuffers, carom::Error> {
//!     let pipeline = CollisionPipeline::new(device)?;
//!     pipeline.create_buffers(&BufferOptions::new(count).with_earliest())
//! }
//!
//! /// Each frame. x, y, z and radius are 16 bytes of one buffer, and velocities 16 bytes of
//! /// another; offsets and strides are in bytes. `waiting` is for a readback on its way,
//! /// from frame to frame.
//! fn frame(
//!     device: &wgpu::Device,
//!     queue: &wgpu::Queue,
//!     buffers: &mut CollisionBuffers,
//!     [position, velocity]: [&wgpu::Buffer; 2],
//!     count: u32,
//!     dt: f32,
//!     waiting: &mut Option<Ticket<PairList<ExactStep>>>,
//! ) -> Result<(), Box<dyn std::error::Error>> {
//!     let center = Attribute::new(position, 0, 16);
//!     let radius = Attribute::new(position, 12, 16);
//!     let spheres = DeviceSpheres::new(count, center, radius)
//!         .with_velocity(Attribute::new(velocity, 0, 16));
//!     let mut encoder = device.create_command_encoder(&Default::default());
//!     buffers.record(&mut encoder, &Step::on_device(&spheres, dt))?;
//!     // … passes of your own that read buffers.earliest() or buffers.pairs() …
//!
//!     // If the host wants the list, too. (read_summary costs next to nothing, and tells
//!     // whether there was room for every pair.)
//!     if waiting.is_none() {
//!         *waiting = Some(buffers.read_exact(&mut encoder)?);
//!     }
//!     queue.submit([encoder.finish()]);
//!
//!     // A list arrives some frames later, in a poll. Neither of these waits for it.
//!     device.poll(wgpu::PollType::Poll)?;
//!     if let Some(ticket) = waiting.take() {
//!         match ticket.try_take()? {
//!             // Asked again in the next frame.
//!             Readback::Pending(ticket) => *waiting = Some(ticket),
//!             Readback::Ready(PairList::Complete(step)) => {
//!                 println!("{} pairs", step.collisions.pairs.len());
//!             }
//!             // Too little room for that step: there will be enough for the next ones.
//!             Readback::Ready(PairList::Truncated(required)) => {
//!                 if buffers.grow(&required)? {
//!                     // … make bind groups with carom's buffers anew …
//!                 }
//!             }
//!         }
//!     }
//!     Ok(())
//! }
//! ```
//!
//! [`record`](CollisionBuffers::record) takes spheres in buffers of the application
//! ([`Step::on_device`](crate::Step::on_device)) and on the host
//! ([`Step::new`](crate::Step::new)). It never submits, polls or blocks, and makes no
//! buffers once as many recordings have been in flight as ever are. carom does not use
//! the queue. Several steps may be recorded before one submit, each with its own values.
//! A recording that fails leaves the encoder as it was.
//!
//! [`wgpu`] is the one that carom uses, with the features that its own `native`
//! brings (Vulkan, Metal, DX12, WGSL). A program that depends on wgpu 30 itself has
//! the same one, with the features of both.
//!
//! # Where waiting is not allowed
//!
//! Nothing here blocks the thread. In a browser a device reports errors only when the
//! call has returned to the event loop, so there
//! [`CollisionPipeline::new`] and [`create_buffers`](CollisionPipeline::create_buffers)
//! leave their errors to a later call. [`CollisionPipeline::new_async`] and
//! [`create_buffers_async`](CollisionPipeline::create_buffers_async) wait for them, and
//! [`Ticket::take`] waits for results.
//!
//! # Shaders that read the results
//!
//! [`WGSL`] has the structs and functions. It comes after a shader's own text, so that the
//! lines in compile errors are those of the shader. The number of pairs is known on the GPU
//! only, so a pass over them is dispatched with the arguments in
//! [`dispatch`](CollisionBuffers::dispatch):
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
//!     // A word for each sphere, 0 before the pass.
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
//!         // A grazing pair counts as touching, so whoever reads this asks for a word other
//!         // than 0. It may come again: hence marks, which may be set twice, and no sum.
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
//! // … a module and a pipeline of it, once; and until buffers.grow() returns true:
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
//! With [`BufferOptions::contacts`], one invocation a sphere goes through its own:
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
//! Every pair that touches is in [`pairs`](CollisionBuffers::pairs). So are some pairs
//! that float32 cannot decide; these are marked as grazing. [`WGSL`] has the structs and
//! functions to read them.
//!
//! - A shader should treat grazing pairs as touching. They come as close as the bound
//!   below.
//! - The mark does not imply a near miss: a pair whose closest approach is at the end of
//!   a time segment of a fast sphere is marked too, however deep it hits, and may be in
//!   the list several times.
//! - At `toi` the gap between the two spheres is at most
//!   2⁻¹⁹ · (distance at the start + sum of the radii). Depths have the same error.
//!
//! [`read_exact`](CollisionBuffers::read_exact) gives the list that
//! [`Detector`](crate::Detector) gives.
//!
//! # Buffers that are too small
//!
//! A step that finds more pairs than there is room for still counts them all: the
//! [results](CollisionBuffers::results) have both numbers, and the [`Status`] says so. A
//! list that is not whole is never handed to the host. [`PairList::Truncated`] and
//! [`StepSummary::required_capacity`] have the [`RequiredCapacity`], and
//! [`grow`](CollisionBuffers::grow) makes that room. On the GPU, shaders see the pairs
//! that did fit.
//!
//! When the host knows the number of spheres ([`SphereCount::Known`], slices), more
//! spheres than there is room for are an error. When only the device knows it
//! ([`SphereCount::InBuffer`]), nothing is found in such a step, and the [`Status`] says
//! so.
//!
//! # When the device is lost
//!
//! Calls give [`Error::DeviceLost`](crate::Error::DeviceLost) as soon as wgpu lets carom
//! know, perhaps not in the frame in which it happened. Make a new pipeline and new buffers on the new
//! device.

#![allow(
    clippy::cast_possible_truncation,
    reason = "what a buffer holds is checked against the device's limits, far below 2³²"
)]

mod allocator;
mod bound_spheres;
mod buffers;
mod collision_buffers;
mod context;
mod decode;
mod detector_backend;
mod device_kernels;
mod device_spheres;
mod device_step;
mod dispatch;
#[cfg(test)]
pub(crate) mod filter_on_gpu;
mod gathering;
mod growth;
mod host_step;
mod load;
mod named_buffers;
mod options;
mod outputs;
mod pair_list;
mod pipeline;
mod read_now;
mod read_results;
mod record_step;
mod reductions;
mod scan;
mod shader;
mod sized_parts;
mod stages;
mod staging;
mod status;
mod summary;
mod ticket;
mod timing;
mod upload;
mod upload_layout;
#[cfg(test)]
mod wiring_tests;

pub use collision_buffers::CollisionBuffers;
pub(crate) use detector_backend::Gpu;
pub use device_spheres::{
    Attribute, DeviceSpheres, SphereCount, SphereGroups, SphereMotion, SphereRadius,
};
pub use options::BufferOptions;
pub use pair_list::{ExactStep, PairList, RawCollision, RawStep};
pub use pipeline::CollisionPipeline;
pub use record_step::RecordableSpheres;
/// Only for `crates/shader-stats`, which shows what a driver makes of them.
#[doc(hidden)]
pub use shader::kernels::{Kernel, all as kernels};
pub use status::Status;
pub use summary::{RequiredCapacity, StepSummary};
pub use ticket::{Readback, Ticket};
pub use wgpu;

/// WGSL that reads carom's results, to be appended to a shader's own text: see
/// [the module](self). So the lines in compile errors are the shader's own, and its directives
/// come first. Begins with a line break.
///
/// ```wgsl
#[doc = include_str!("../../shaders/shared/carom.wgsl")]
/// ```
pub const WGSL: &str = concat!("\n", include_str!("../../shaders/shared/carom.wgsl"));
