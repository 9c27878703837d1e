//! `plan`: chooses the levels (grids) of a step, which of them search which, and their slots (table
//! entries), at the least expected cost of searching and testing. Twin of `shaders/plan.wgsl`.
//!
//! [`size_ranges`] divides the size classes into runs, [`levels`] joins runs to levels, [`layout`]
//! gives each level its cells and slots, and [`searches`] decides which of two levels searches the
//! other.

mod layout;
mod levels;
mod make;
mod searches;
mod size_ranges;

pub(crate) use self::make::{Plan, plan};
