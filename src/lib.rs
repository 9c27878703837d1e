//! Every pair of moving spheres that touch during a time step, and when.
//!
//! A [`Detector`] takes a [`Step`] of spheres in a slice and returns the list:
//!
//! ```
//! use carom::{Backend, Detector, Options, Sphere, Step};
//!
//! let spheres = [
//!     Sphere::new([0.0, 0.0, 0.0], 1.0).with_velocity([10.0, 0.0, 0.0]),
//!     Sphere::new([5.0, 0.0, 0.0], 1.0),
//!     Sphere::new([0.0, 9.0, 0.0], 1.0),
//! ];
//! let mut detector = Detector::new(Options::new().with_backend(Backend::Cpu))?;
//! let collisions = detector.detect(&Step::new(&spheres, 1.0))?;
//! assert_eq!(collisions.pairs.len(), 1);
//! assert_eq!((collisions.pairs[0].a, collisions.pairs[0].b), (0, 1));
//! assert_eq!(collisions.pairs[0].toi, 0.3);
//! # Ok::<(), carom::Error>(())
//! ```
//!
//! Units of length and time are the caller's, as long as they agree: a velocity
//! is a length per unit of `dt`. Spheres move with constant velocity during a
//! step; touching counts, at its ends too. Values may be up to
//! [`MAX_MAGNITUDE`] in magnitude; others, NaN included, are an [`Error`] that
//! names index and field. Pairs can be left out by [groups](Sphere::with_groups).
//!
//! The list is exact: which pairs it has is what exact arithmetic on the float32
//! values gives, and times and depths are the float32 next to the true ones.
//! [`verify()`] holds a list, from carom or from elsewhere, against the truth.
//!
//! [`Options`] chooses the backend, by default a hardware GPU where there is one
//! and else the CPU; both give the same list. [`Statistics`] tells which it was.
//!
//! # Features
//!
//! | Feature | Brings |
//! |---|---|
//! | `native`, on by default | the GPU backend with Vulkan, Metal and DX12; implies `gpu` |
//! | `gpu` | the module `gpu` and the GPU backend, with the graphics APIs that the program turns on in wgpu |
//! | `webgpu` | the GPU backend with the browser's WebGPU; implies `gpu` |
//! | `serde` | `Serialize`, and `Deserialize` where the type allows, for spheres, results and statistics |
//!
//! Without any, wgpu is not compiled, and [`Backend::Gpu`] is an [`Error`].
//!
//! # In debug builds
//!
//! Without optimization, a step of 100 000 spheres on the CPU takes 40 to 75 times as long as in a
//! release build. With these lines in `Cargo.toml` (of a workspace, in that at its root), carom
//! alone is optimized in debug builds, too, and the step takes some 1.2 times as long:
//!
//! ```toml
//! [profile.dev.package.carom]
//! opt-level = 3
//! ```
#![cfg_attr(
    feature = "gpu",
    doc = r#"
# In a program with a wgpu device

In a program that has a wgpu device, [`gpu`] records the work into its command
encoder and leaves the pairs on the GPU:

```no_run
use carom::gpu::{BufferOptions, CollisionPipeline, PairList, Readback, wgpu};
use carom::{Sphere, Step};

# fn frame(device: &wgpu::Device, queue: &wgpu::Queue, spheres: &[Sphere]) -> Result<(), carom::Error> {
let pipeline = CollisionPipeline::new(device)?; // once a device
let mut buffers = pipeline.create_buffers(&BufferOptions::new(100_000))?; // once a world

let mut encoder = device.create_command_encoder(&Default::default());
let step = Step::new(spheres, 1.0 / 60.0); // or Step::on_device, in your own buffers
buffers.record(&mut encoder, &step)?;
// … your own passes, which read buffers.pairs() …
let ticket = buffers.read_exact(&mut encoder)?; // if the host wants the list, too
queue.submit([encoder.finish()]);

// Some frames later; this never waits.
if let Readback::Ready(PairList::Complete(step)) = ticket.try_take()? {
    for pair in &step.collisions {
        println!("{} and {} touch at {}", pair.a, pair.b, pair.toi);
    }
}
# Ok(()) }
```
"#
)]

#[cfg(all(doctest, feature = "gpu"))]
#[doc = include_str!("../README.md")]
struct Readme;

// What tests of the inside share with those of the outside names it so.
#[cfg(test)]
extern crate self as carom;

mod blocking;
mod cause;
mod collision;
mod collisions;
mod contact;
mod cpu;
mod detector;
mod error;
mod exact;
#[cfg(feature = "gpu")]
pub mod gpu;
mod lanes;
mod limits;
mod memory;
#[cfg(not(feature = "gpu"))]
mod no_gpu;
mod options;
mod outcome;
mod reduce;
mod reuse;
mod shared;
mod sphere;
mod statistics;
mod step;
mod threads;
mod validate;
mod verify;

pub use cause::Cause;
pub use collision::Collision;
pub use collisions::Collisions;
pub use contact::Contact;
pub use detector::Detector;
pub use error::{Error, Field};
pub use exact::time_of_impact;
pub use glam;
pub use options::{Backend, Options};
pub use reduce::changes::Changes;
pub use reduce::contacts::Contacts;
pub use reduce::earliest::Earliest;
pub use sphere::{MAX_MAGNITUDE, Sphere};
pub use statistics::{ActiveBackend, Statistics};
pub use step::Step;
pub use verify::{Verification, verify};
