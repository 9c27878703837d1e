//! The CPU backend. It runs the same stages as the shaders on several threads, with one file or
//! folder for each stage. It serves machines without a GPU, and it is the reference that the GPU
//! backend is checked against.

mod balls;
mod bin;
mod bring;
mod buckets;
mod clock;
mod images;
mod list;
pub(crate) mod measure;
mod neighbors;
mod pairs;
mod parts;
pub(crate) mod plan;
mod run;
mod scan;
mod scatter;
mod sorted_proxies;
mod sorted_sphere;

pub(crate) use run::Cpu;
