//! carom inside a program that has a wgpu device of its own: recorded into its
//! command encoder, fed from its buffers, with results that stay on the GPU.
//!
//! ```no_run
//! use carom::gpu::{
//!     BufferOptions, CollisionPipeline, Count, DeviceSpheres, Groups, Motion, Radius, Source,
//!     Taken, Words, wgpu,
//! };
//!
//! # fn frame(device: &wgpu::Device, queue: &wgpu::Queue, position: &wgpu::Buffer,
//! #     velocity: &wgpu::Buffer, count: u32, dt: f32) -> Result<(), carom::Error> {
//! // Once a device, and once a world.
//! let pipeline = CollisionPipeline::new(device)?;
//! let mut buffers = pipeline.create_buffers(&BufferOptions {
//!     earliest: true,
//!     ..BufferOptions::new(count)
//! })?;
//!
//! // Each frame. Here xyz and radius are in one buffer, velocities in another.
//! let spheres = DeviceSpheres {
//!     count: Count::Known(count),
//!     center: Words { buffer: position, offset: 0, stride: 4 },
//!     radius: Radius::Words(Words { buffer: position, offset: 3, stride: 4 }),
//!     motion: Motion::Velocity(Words { buffer: velocity, offset: 0, stride: 4 }),
//!     groups: Groups::Constant(0),
//! };
//! let mut encoder = device.create_command_encoder(&Default::default());
//! buffers.prepare(Source::Buffers(&spheres), dt)?;
//! buffers.record(&mut encoder)?;
//! // … passes of your own that read buffers.earliest() or buffers.pairs() …
//!
//! // If the host wants the list, too. (read_counts costs next to nothing, and tells
//! // whether there was room for everything.)
//! # let mut waiting: Option<carom::gpu::Ticket<carom::gpu::ExactStep>> = None;
//! if waiting.is_none() {
//!     waiting = Some(buffers.read_exact(&mut encoder)?);
//! }
//! queue.submit([encoder.finish()]);
//!
//! // After each submit: it takes some frames, and never waits.
//! if let Some(ticket) = waiting.take() {
//!     match ticket.try_take()? {
//!         Taken::Pending(ticket) => waiting = Some(ticket),
//!         Taken::Ready(step) => println!("{} pairs", step.collisions.pairs.len()),
//!         Taken::Truncated(needed) => {
//!             if buffers.grow(&needed)? {
//!                 // … make bind groups with carom's buffers anew …
//!             }
//!         }
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! [`prepare`](CollisionBuffers::prepare) and [`record`](CollisionBuffers::record)
//! never submit, poll or block, and make no buffers once as many recordings have been
//! in flight as ever are. Nothing here takes the queue. A prepared step is recorded
//! once; several may be recorded before one submit.
//!
//! [`wgpu`] is the one that carom uses, with the features that its own `native`
//! brings (Vulkan, Metal, DX12, WGSL). A program that depends on wgpu 30 itself has
//! the same one, with the features of both.
//!
//! # Shaders that read the results
//!
//! [`WGSL`] has the structs. The number of pairs is known on the GPU only, so a pass
//! over them is dispatched with the arguments in
//! [`dispatch`](CollisionBuffers::dispatch):
//!
//! ```no_run
//! # use carom::gpu::{CollisionBuffers, WGSL, wgpu};
//! # fn pass(device: &wgpu::Device, encoder: &mut wgpu::CommandEncoder, buffers: &CollisionBuffers) {
//! let shader = [WGSL, "
//!     @group(0) @binding(0) var<storage, read> results: CaromResults;
//!     @group(0) @binding(1) var<storage, read> pairs: array<CaromCollision>;
//!     @compute @workgroup_size(CAROM_WORKGROUP)
//!     fn main(
//!         @builtin(workgroup_id) workgroup: vec3<u32>,
//!         @builtin(local_invocation_index) local: u32,
//!     ) {
//!         let i = carom_index(results.columns, workgroup, local);
//!         if i < results.pairs {
//!             let a = pairs[i].a;
//!             let b = carom_b(pairs[i]);
//!             // …
//!         }
//!     }
//! "].concat();
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
//!     ],
//! });
//! // Each frame, after buffers.record():
//! let mut pass = encoder.begin_compute_pass(&Default::default());
//! pass.set_pipeline(&pipeline);
//! pass.set_bind_group(0, &bound, &[]);
//! pass.dispatch_workgroups_indirect(buffers.dispatch(), 0);
//! # }
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
//! # What the GPU finds
//!
//! Every pair that touches is in [`pairs`](CollisionBuffers::pairs), and no pair
//! but those and some that are marked as grazing, which float32 cannot tell; [`WGSL`]
//! has the structs and functions to read them. A shader should take grazing pairs for
//! touching: those that do not come as close as the bound below. Not the other way
//! round, because a pair that is closest at the end of a time segment of a fast sphere
//! is marked, too, however deep it hits, and may stand in the list several times.
//! Times are such that at `toi` the gap between the two is at most
//! 2⁻¹⁹ · (distance at the start + sum of the radii), and depths right to the same.
//! [`read_exact`](CollisionBuffers::read_exact) gives the list that
//! [`Detector`](crate::Detector) gives.
//!
//! # What does not fit
//!
//! A step that finds more pairs than there is room for still counts them all: the
//! [results](CollisionBuffers::results) have both numbers, and the [`status`] word says
//! so. A list that is not whole is never handed to the host: [`Taken::Truncated`], and
//! [`Counts::needed`], have what was [`Needed`], and [`grow`](CollisionBuffers::grow)
//! makes room for it. On the GPU, shaders see the part that did fit.
//!
//! Spheres that the host counts ([`Count::Known`], slices) are refused when they are
//! more than there is room for; those that the device counts ([`Count::Word`]) cannot be:
//! nothing is found in such a step, and the status word tells.
//!
//! # When the device is lost
//!
//! Calls give [`Error::DeviceLost`] as soon as wgpu says so to carom, perhaps not in
//! the frame in which it happened. Make a new pipeline and new buffers on the new
//! device.

#![allow(
    clippy::cast_possible_truncation,
    reason = "what a buffer holds is checked against the device's limits, far below 2³²"
)]

mod allocator;
mod buffers;
mod collision_buffers;
mod dispatch;
mod headless;
mod options;
mod outputs;
mod pipeline;
mod readback;
mod reductions;
mod scan;
mod scope;
mod shader;
mod source;
mod stages;
mod step;
#[cfg(test)]
pub(crate) mod sweep_on_gpu;
mod ticket;
mod upload;
mod upload_layout;
#[cfg(test)]
mod wiring_tests;

pub use collision_buffers::CollisionBuffers;
pub(crate) use headless::Gpu;
pub use options::BufferOptions;
pub use pipeline::CollisionPipeline;
pub use source::{Count, DeviceSpheres, Groups, Motion, Radius, Source, Words};
pub use step::{Counts, ExactStep, Needed, RawCollision, RawStep};
pub use ticket::{Taken, Ticket};
pub use wgpu;

/// WGSL that reads carom's results, to be joined to a shader's own text: see
/// [the module](self).
///
/// ```wgsl
#[doc = include_str!("../../shaders/shared/carom.wgsl")]
/// ```
pub const WGSL: &str = include_str!("../../shaders/shared/carom.wgsl");

/// Bits of the status of a step, in [`Counts::status`] and on the GPU.
pub mod status {
    /// More pairs than the list holds.
    pub const TRUNCATED: u32 = 1;
    /// More time segments than there is room for: nothing was searched.
    pub const TOO_MANY_SEGMENTS: u32 = 2;
    /// More candidates than [`BufferOptions::max_candidates`](super::BufferOptions):
    /// nothing was tested.
    pub const TOO_CROWDED: u32 = 4;
    /// More spheres than there is room for: nothing was searched.
    pub const TOO_MANY_SPHERES: u32 = 8;
    /// Spheres were set aside for their values; what was found of the rest is complete.
    pub const INVALID_SPHERES: u32 = 16;
    /// The driver ended loops before they were done: pairs may be missing.
    pub const UNFINISHED: u32 = 32;
    /// All that say that pairs may be missing.
    pub const INCOMPLETE: u32 =
        TRUNCATED | TOO_MANY_SEGMENTS | TOO_CROWDED | TOO_MANY_SPHERES | UNFINISHED;
}

use wgpu::ErrorFilter;

use crate::Error;

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
        // Ready at once, but on the web.
        if let Some(error) = pollster::block_on(scope.pop()) {
            failure = Some(Error::Device(error.to_string()));
        }
    }
    match failure {
        // What the work itself found out tells more.
        Some(failure) => done.and(Err(failure)),
        None => done,
    }
}
