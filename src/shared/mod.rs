//! Definitions that the CPU code shares with the shaders. Most files have a twin of the same name
//! in `shaders/shared`.

pub(crate) mod filter;
pub(crate) mod grid;
pub(crate) mod moving_sphere;
pub(crate) mod ownership;
pub(crate) mod scaled_sphere;
pub(crate) mod segments;
pub(crate) mod sets;
pub(crate) mod size_class;
pub(crate) mod sorted;
pub(crate) mod space;
pub(crate) mod tag;
pub(crate) mod tuning;
pub(crate) mod units;
