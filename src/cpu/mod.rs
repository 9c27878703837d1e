//! The CPU backend, for machines without a GPU and as the reference for the GPU backend. It has a
//! file or folder for each stage.

mod balls;
mod bin;
mod bounded_walls;
mod bring;
mod buckets;
mod clock;
mod images;
mod list;
pub(crate) mod measure;
mod meshes;
mod neighbors;
mod pairs;
mod parts;
pub(crate) mod plan;
mod run;
mod scan;
mod scatter;
mod sorted_proxies;
mod sorted_sphere;
mod wall_hits;
mod walls;

pub(crate) use bounded_walls::BoundedWalls;
#[cfg(feature = "gpu")]
pub(crate) use buckets::Buckets;
#[cfg(feature = "gpu")]
pub(crate) use clock::StageClock;
#[cfg(feature = "gpu")]
pub(crate) use list::sort_reported;
pub(crate) use run::Cpu;
pub(crate) use wall_hits::WallHits;
pub(crate) use walls::find_at_walls;
