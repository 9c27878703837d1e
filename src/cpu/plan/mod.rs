//! `plan`: chooses the levels (grids) of a step, which of them search which, and their slots (table
//! entries). It minimizes the expected cost of searching and testing. Twin of `shaders/plan.wgsl`.
//!
//! [`size_ranges`] divides the size classes into runs, [`levels`] joins neighbouring runs to levels
//! (grids), [`layout`] gives each level its cells and table entries, and [`searches`] decides which
//! of two levels searches the other.

mod layout;
mod levels;
mod make;
mod searches;
mod size_ranges;

pub(crate) use self::make::{Plan, plan};
