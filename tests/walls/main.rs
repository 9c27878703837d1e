//! Tests of walls against closed forms and against exact arithmetic.

#![allow(
    clippy::cast_possible_truncation,
    reason = "random numbers are rounded to float32"
)]

#[path = "../oracle/mod.rs"]
mod oracle;
mod periodic;
mod simple;
mod steps;
mod triangles;
#[path = "../wall_worlds/mod.rs"]
mod wall_worlds;

use carom::{Backend, Collisions, Detector, Options, Sphere, Step, Walls};

fn detector() -> Detector {
    Detector::new(Options::new().with_backend(Backend::Cpu)).expect("the CPU is always there")
}

fn detect(spheres: &[Sphere], walls: &Walls, dt: f32) -> Collisions {
    let found = detector().detect(&Step::new(spheres, dt).with_walls(walls));
    found.unwrap_or_else(|error| panic!("{error}"))
}
