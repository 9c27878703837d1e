//! Chooses the grids (levels) of a step, which grid's spheres search which other grids, and the
//! entries of each grid in the table of cells, at the least expected cost. Twin of
//! `shaders/plan.wgsl`.
//!
//! [`size_ranges`] divides the size classes into runs, [`levels`] joins runs to grids, [`layout`]
//! gives each grid its cells and table entries, and [`searches`] decides which of two grids has
//! spheres that search the other.

mod layout;
mod levels;
mod make;
mod searches;
mod size_ranges;

pub(crate) use self::make::{Plan, plan};
