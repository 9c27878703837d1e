//! Finds every pair of moving spheres that touch during a time step, and when they touch.
//!
//! A [`Detector`] takes a [`Step`] with a set of spheres and returns the list of collisions:
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
//! You choose the units of length and time. A velocity is a length per unit of `dt`. Spheres move with
//! constant velocity during a step. Two spheres that touch without overlapping are a pair, even if they touch
//! only at the start or the end of the step. [Collision groups](Sphere::with_groups) leave out pairs of your
//! choice.
//!
//! Every number in a sphere or a step may have a magnitude of up to [`MAX_MAGNITUDE`]. A larger number, an
//! infinity or a NaN leads to an [`Error`] that names it.
//!
//! The list is exact: it has the same pairs as exact arithmetic on the inputs, with the nearest times and depths. The
//! inputs are float32 ([`Sphere`]) or float64 ([`HardSphere`], [`Spheres`] with columns of `f64`): see [`Number`].
//! [`verify()`] checks a list of collisions, from carom or from another program, against exact arithmetic on every pair, and
//! [`verify_walls`] a list of spheres that touch walls.
//!
//! [`Detector::find_neighbors`] makes neighbour lists: all pairs of particles within a cutoff.
//!
//! A [`Simulation`] moves hard spheres through time, with every impact at its time and in its order.
//!
//! [`Options`] chooses the backend. The default is a hardware GPU if there is one, otherwise the CPU; both
//! give the same list. [`Statistics::backend`] tells which backend did a step.
//!
//! # Limits
//!
//! - A step has at most 2³⁰ spheres, 2³⁴ pairs to test and 2²⁸ pairs that touch; [`Options`] changes both limits of pairs.
//! - In a periodic domain, half-spaces and cylinders must repeat with the domain, and no sphere may be hollow. Spheres may
//!   lie outside the cell: on a GPU by at most 255 times its size, or less if it is strongly skewed, and on the CPU by 2²⁰
//!   times.
//! - In dynamics, points (spheres of radius 0) pass through triangles.
//! - Very fast spheres need many tests. With 10 000 spheres, 460 pairs are tested for each sphere if moving points cross a
//!   cloud of spheres at rest, 1300 if two swarms of bullets fly through one another, and still faster swarms need a test
//!   of every pair.
//! - Some software GPU drivers end long shader loops early. carom then returns an error. Use the CPU backend there.
//!
//! # Features
//!
//! | Feature | Enables |
//! |---|---|
//! | `native` (default) | the GPU backend with Vulkan, Metal and DX12; implies `gpu` |
//! | `gpu` | the module `gpu`, and the GPU backend with the graphics APIs enabled in wgpu |
//! | `webgpu` | the GPU backend with the browser's WebGPU; implies `gpu` |
//! | `serde` | `Serialize`, and where possible `Deserialize`, for spheres, results, statistics |
//!
//! Without the feature `gpu`, wgpu is not compiled, and [`Backend::Gpu`] leads to an [`Error`].
//!
//! # Debug builds
//!
//! Without optimization, a step of 100 000 spheres on the CPU takes 40 to 75 times as long as in a release
//! build. With the following lines, which optimize only carom in debug builds, it takes about 1.2 times as
//! long. In a workspace, put them into the `Cargo.toml` at its root:
//!
//! ```toml
//! [profile.dev.package.carom]
//! opt-level = 3
//! ```
#![cfg_attr(
    feature = "gpu",
    doc = r#"
# Use in a wgpu program

In a program that has a wgpu device of its own, the module [`gpu`] records the work into the
program's command encoder and leaves the pairs on the GPU:

```no_run
use carom::gpu::{BufferOptions, CollisionPipeline, wgpu};
use carom::{Sphere, Step};

# fn frame(device: &wgpu::Device, queue: &wgpu::Queue, spheres: &[Sphere]) -> Result<(), carom::Error> {
let pipeline = CollisionPipeline::new(device)?; // once per device
let mut buffers = pipeline.create_buffers(&BufferOptions::new(100_000))?; // once per world

let mut encoder = device.create_command_encoder(&Default::default());
let step = Step::new(spheres, 1.0 / 60.0); // or Step::on_device, for your own buffers
buffers.record(&mut encoder, &step)?;
// … your own passes that read buffers.pairs() …
let mut ticket = buffers.read_exact(&mut encoder)?; // if the host needs the list too
queue.submit([encoder.finish()]);

// Some frames later, take the results if they are ready. The method `try_take` never waits.
if let Some(step) = ticket.try_take()? {
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

// Unit tests and integration tests share modules.
#[cfg(test)]
extern crate self as carom;

mod cause;
mod collision;
mod collisions;
mod column;
mod contact;
mod cpu;
mod detector;
mod domain;
mod dynamics;
mod error;
mod exact;
#[cfg(feature = "gpu")]
pub mod gpu;
mod hits;
mod lattice;
mod neighbors;
#[cfg(not(feature = "gpu"))]
mod no_gpu;
mod number;
mod options;
mod reduce;
mod shared;
mod sphere;
mod spheres;
mod statistics;
mod step;
mod support;
mod verify;
mod walls;
mod wide;

pub use cause::Cause;
pub use collision::{Collision, Collision64, Touching, WallCollision, WallCollision64};
pub use collisions::Collisions;
pub use column::{Column, Values};
pub use contact::{Contact, Feature};
pub use detector::Detector;
pub use domain::Domain;
pub use dynamics::{
    Combine, Encounter, HardSphere, Impact, Outcome, Partner, Removal, Response, Simulation,
    SimulationOptions, StepReport,
};
pub use error::{Error, ErrorKind, Field};
pub use exact::toi;
pub use hits::Hits;
pub use neighbors::{NeighborList, NeighborSearch};
pub use number::Number;
pub use options::{Backend, Options};
pub use reduce::changes::Changes;
pub use reduce::contacts::Contacts;
pub use reduce::earliest::Earliest;
pub use sphere::{MAX_MAGNITUDE, MAX_MAGNITUDE_F64, Sphere};
pub use spheres::Spheres;
pub use statistics::Statistics;
pub use step::{SphereSet, Step};
pub use verify::{Verification, verify, verify_walls};
pub use walls::{Mesh, Wall, WallShape, Walls};

use support::{blocking, clock, lanes, limits, memory, reuse, threads, validate};
