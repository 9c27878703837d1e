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
//! let ticket = buffers.read_counts(&mut encoder)?; // if the host wants to know
//! queue.submit([encoder.finish()]);
//!
//! // Some frames later.
//! match ticket.try_take()? {
//!     Taken::Ready(counts) => println!("{} pairs", counts.found),
//!     Taken::Truncated(needed) => buffers.grow(&needed)?,
//!     Taken::Pending(_ticket) => {} // ask again
//! }
//! # Ok(()) }
//! ```
//!
//! [`prepare`](CollisionBuffers::prepare) and [`record`](CollisionBuffers::record)
//! never submit, poll or block, and make no buffers once there are some for every
//! recording in flight. Nothing here takes the queue.
//!
//! # What the GPU finds
//!
//! Every pair that touches is in [`pairs`](CollisionBuffers::pairs), and no pair
//! but those and grazing ones, which float32 cannot tell; [`WGSL`] has the structs and
//! functions to read them. A shader may take grazing pairs for touching or not: the
//! gap is some 10⁻⁷ of their distance. One that is at the end of a time segment of a
//! fast sphere may stand in the list several times, marked as grazing each time.
//! Times are such that at `toi` the gap between the two is at most
//! 2⁻¹⁹ · (distance at the start + sum of the radii), and depths right to the same.
//! [`read_exact`](CollisionBuffers::read_exact) gives the list that
//! [`Detector`](crate::Detector) gives.
//!
//! # What does not fit
//!
//! Counts go on past every capacity, and the status word tells. A list that is
//! not whole is never handed out: [`Taken::Truncated`] has what was
//! [`Needed`], and [`grow`](CollisionBuffers::grow) makes room for it.
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

mod buffers;
mod collision_buffers;
mod headless;
mod kernels;
mod pipeline;
mod readback;
mod record;
mod reductions;
mod source;
#[cfg(test)]
pub(crate) mod sweep_on_gpu;
mod ticket;
mod upload;

pub use collision_buffers::{BufferOptions, CollisionBuffers};
pub(crate) use headless::Gpu;
pub use pipeline::CollisionPipeline;
pub use source::{Count, DeviceSpheres, Groups, Motion, Radius, Source, Words};
pub use ticket::{Counts, ExactStep, Needed, RawCollision, RawStep, Taken, Ticket};
pub use wgpu;

/// WGSL that reads carom's results: the structs, constants and functions whose
/// names begin with `Carom`, `CAROM` and `carom`. Join it to a shader's own text.
///
/// ```
/// let shader = [carom::gpu::WGSL, "
///     @group(0) @binding(0) var<storage, read> results: CaromResults;
///     @group(0) @binding(1) var<storage, read> pairs: array<CaromCollision>;
///     @compute @workgroup_size(CAROM_WORKGROUP)
///     fn main(
///         @builtin(workgroup_id) workgroup: vec3<u32>,
///         @builtin(local_invocation_index) local: u32,
///     ) {
///         let i = carom_index(results.columns, workgroup, local);
///         if i < results.pairs {
///             let other = carom_b(pairs[i]);
///             // …
///         }
///     }
/// "].concat();
/// # assert!(naga::front::wgsl::parse_str(&shader).is_ok());
/// ```
pub const WGSL: &str = include_str!("../../shaders/shared/carom.wgsl");

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
