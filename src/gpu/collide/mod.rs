//! The buffers and stages that find the collisions and neighbours of one world.

pub(crate) mod buffers;
pub(crate) mod collision_buffers;
pub(crate) mod growth;
pub(crate) mod lattice;
pub(crate) mod neighbor_search;
pub(crate) mod neighbors;
pub(crate) mod options;
pub(crate) mod record;
pub(crate) mod record_step;
pub(crate) mod reductions;
pub(crate) mod scan;
pub(crate) mod sized_parts;
pub(crate) mod stages;
pub(crate) mod walls;
