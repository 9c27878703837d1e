//! The CPU backend: the same stages as the shaders, one file a stage, on several
//! threads. It is what a machine without a GPU uses, and what the GPU is checked
//! against.

mod balls;
mod bin;
mod bring;
mod buckets;
mod clock;
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
