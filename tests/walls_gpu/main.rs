//! Tests walls in `CollisionBuffers` against the CPU backend.

#![allow(
    clippy::cast_possible_truncation,
    reason = "random numbers are rounded to float32"
)]

#[path = "../device/mod.rs"]
mod device;
mod results;
mod simple;
mod triangles;
#[path = "../wall_worlds/mod.rs"]
mod wall_worlds;

use std::collections::HashMap;

use carom::gpu::{BufferOptions, CollisionBuffers, RawCollisions};
use carom::{Backend, Collisions, Detector, Options, Sphere, Step, WallShape};
use device::{Device, ready};
use glam::Vec3;
use simple::extent;
use wall_worlds::distance;

fn options() -> BufferOptions {
    BufferOptions::new(64).with_walls(8)
}

fn buffers(device: &Device, options: &BufferOptions) -> CollisionBuffers {
    let buffers = device.pipeline().create_buffers(options);
    buffers.unwrap_or_else(|error| panic!("{error}"))
}

fn on_cpu(step: &Step<'_>) -> Collisions {
    let detector = Detector::new(Options::new().with_backend(Backend::Cpu));
    let found = detector.and_then(|mut detector| detector.detect(step));
    found.unwrap_or_else(|error| panic!("{error}"))
}

fn raw(device: &Device, buffers: &mut CollisionBuffers, step: &Step<'_>) -> RawCollisions {
    let mut encoder = device.encoder();
    let recorded = buffers.record(&mut encoder, step);
    recorded.unwrap_or_else(|error| panic!("{error}"));
    let ticket = buffers.read_raw(&mut encoder).expect("a step is recorded");
    ready(device.finish(encoder, ticket))
}

/// Checks the GPU's float32 list of wall collisions against the exact list. The GPU must list every exact wall
/// collision. Each entry of the GPU's list must be an exact wall collision, with nearly the same time and
/// depth, unless it is marked as grazing (undecided). Returns the numbers of entries without and with the mark.
fn check_raw(
    raw: &RawCollisions,
    exact: &Collisions,
    step: &Step<'_>,
    spheres: &[Sphere],
) -> [usize; 2] {
    let simple = step.walls().map_or(0, |walls| walls.simple().len()) as u32;
    let mut listed = HashMap::new();
    for (index, (hit, image)) in raw.walls().iter_with_images().enumerate() {
        let name = (hit.sphere, hit.wall, image);
        // A grazing (undecided) contact with a triangle may be listed several times.
        let before = listed.insert(name, (hit, raw.is_wall_grazing(index)));
        let once = before.is_none_or(|(_, grazing)| grazing && hit.wall >= simple);
        assert!(once, "{name:?} is there twice");
    }
    let mut counts = [0; 2];
    for (hit, image) in exact.walls.iter_with_images() {
        let found = listed.remove(&(hit.sphere, hit.wall, image));
        let (found, grazing) = found.unwrap_or_else(|| panic!("{hit:?} {image:?} is missing"));
        counts[usize::from(grazing)] += 1;
        assert!(
            (0.0..=step.dt()).contains(&found.toi) && found.depth >= 0.0,
            "{found:?}"
        );
        if grazing || hit.wall >= simple {
            // The times and depths of collisions with triangles are not checked here, but in the
            // function `check_estimates`.
            continue;
        }
        let mut sphere = spheres[hit.sphere as usize];
        let wall = step.walls().expect("the step has walls").simple()[hit.wall as usize];
        let by = step.domain().displacement(image);
        let size = Vec3::from(sphere.center).abs().element_sum()
            + Vec3::from(sphere.velocity).abs().element_sum() * step.dt()
            + Vec3::from(wall.velocity()).abs().element_sum() * step.dt()
            + sphere.radius
            + extent(&wall);
        sphere.center = [0, 1, 2].map(|k| (f64::from(sphere.center[k]) + by[k]) as f32);
        let away = distance(&sphere, &wall, Some(found.toi.into()));
        let gap = match wall.shape() {
            WallShape::Sphere { hollow: true, .. } | WallShape::Cylinder { hollow: true, .. } => {
                -away - f64::from(sphere.radius)
            }
            _ => away - f64::from(sphere.radius),
        };
        // The device may replace subnormal numbers by 0.
        let error = 1e-3 * f64::from(size) + f64::from(f32::MIN_POSITIVE);
        assert!(
            (gap + f64::from(found.depth)).abs() <= error,
            "{found:?} {hit:?} {gap}"
        );
        let depth = f64::from(found.depth) - f64::from(hit.depth);
        assert!(depth.abs() <= error, "{found:?} {hit:?}");
    }
    for (name, (hit, grazing)) in listed {
        assert!(grazing, "{name:?} {hit:?} is certain, but does not touch");
        counts[1] += 1;
    }
    counts
}
