//! Tests hard-sphere dynamics on the GPU: conservation laws, the order of impacts, and walls. Also
//! tests recordings that have too few substeps, or too few rounds in a substep (in a round, each
//! sphere can have one impact).

#![allow(
    clippy::cast_possible_truncation,
    reason = "the GPU computes in float32"
)]

#[path = "../device/mod.rs"]
mod device;
mod digits;
mod fluids;
mod like_cpu;
#[path = "../meshes/mod.rs"]
mod meshes;
mod paths;
mod recordings;
mod rest;
mod triangles;
mod walls;
mod world;
