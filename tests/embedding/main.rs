//! Tests that time steps recorded into an application's encoder give the same colliding pairs as
//! carom's `Detector`. The layouts of buffers and the order of steps, submits and readbacks vary.

#![allow(
    clippy::cast_possible_truncation,
    reason = "counts of some thousands, and float32 on purpose"
)]

#[path = "../backends/mod.rs"]
mod backends;
mod capacity;
#[path = "../device/mod.rs"]
mod device;
mod lists;
mod recordings;

use backends::detector;
use carom::gpu::{BufferOptions, CollisionBuffers, CollisionPipeline};
use carom::{Backend, Collision, Error, Hits, Options, Sphere, Step};
use carom_scenes::Scene;
use device::Device;

type Result<T = ()> = std::result::Result<T, Error>;

fn truth(spheres: &[Sphere], dt: f32) -> Hits<Collision> {
    match detector(Backend::Cpu, Options::default()).detect(&Step::new(spheres, dt)) {
        Ok(found) => found.pairs,
        Err(error) => panic!("{error}"),
    }
}

fn truth_between(first: &[Sphere], second: &[Sphere], dt: f32) -> Hits<Collision> {
    match detector(Backend::Cpu, Options::default()).detect(&Step::between(first, second, dt)) {
        Ok(found) => found.pairs,
        Err(error) => panic!("{error}"),
    }
}

/// Returns a pipeline whose device has passed its self-test.
fn tested(device: &Device) -> Result<CollisionPipeline> {
    let pipeline = device.pipeline();
    let mut buffers = pipeline.create_buffers(&BufferOptions::new(1))?;
    let mut encoder = device.encoder();
    buffers.record(&mut encoder, &Step::new(&[], 1.0))?;
    device.queue.submit([encoder.finish()]);
    device.wait();
    Ok(pipeline)
}

fn world(device: &Device, spheres: u32) -> Result<CollisionBuffers> {
    device
        .pipeline()
        .create_buffers(&BufferOptions::new(spheres))
}

/// Returns a gas of spheres, a few of which are very fast. Every third sphere belongs to collision group 0
/// and ignores it, so these spheres do not collide with each other.
fn gas(count: usize, seed: u64) -> Vec<Sphere> {
    let mut spheres = Scene::Fast.generate(count, seed);
    for (i, sphere) in spheres.iter_mut().enumerate() {
        sphere.groups = if i % 3 == 0 { 1 | 1 << 16 } else { 0 };
    }
    spheres
}
