//! Chooses the levels of a step at the least expected cost, which of them search which, and their
//! slots. Twin of `shaders/collide/plan.wgsl`.
//!
//! [`size_ranges`] divides the size classes into runs, and [`levels`] joins runs to levels.
//! [`layout`] gives each level its cells and slots. For any two levels, [`searches`] decides which
//! of them searches the other.

mod layout;
mod levels;
mod make;
mod searches;
mod size_ranges;

pub(crate) use self::make::{Plan, plan};
