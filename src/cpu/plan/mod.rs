//! Chooses the grids (levels) of a step at the least expected cost. Also chooses which grids the
//! spheres of each grid search, and which entries of the table of cells each grid has. Twin of
//! `shaders/plan.wgsl`.
//!
//! [`size_ranges`] divides the size classes into runs, and [`levels`] joins runs to grids.
//! [`layout`] gives each grid its cells and table entries. For any two grids, [`searches`]
//! decides which of them has spheres that look for neighbours in the other.

mod layout;
mod levels;
mod make;
mod searches;
mod size_ranges;

pub(crate) use self::make::{Plan, plan};
