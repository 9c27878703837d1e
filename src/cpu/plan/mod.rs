//! `plan`: which levels there are, which of them search which, and where each has its
//! slots. Made anew each step, by the cost of searching and of testing that the sizes and
//! the spacing lead to expect. Twin of `shaders/plan.wgsl`.
//!
//! [`size_ranges`] makes runs of size classes, [`levels`] joins neighbouring runs to levels,
//! [`layout`] gives each level its cells and slots, and [`searches`] decides which of two
//! levels searches the other.

mod layout;
mod levels;
mod make;
mod searches;
mod size_ranges;

pub(crate) use self::make::{Plan, plan};
