//! `plan`: chooses the levels (grids), decides which level searches which, and gives each level its
//! slots. The plan is made anew for each step. It minimizes the expected cost of searching and
//! testing, which is estimated from the sizes and the spacing of the proxies. Twin of
//! `shaders/plan.wgsl`.
//!
//! [`size_ranges`] divides the size classes into runs, [`levels`] joins neighbouring runs to
//! levels, [`layout`] gives each level its cells and slots, and [`searches`] decides which of two
//! levels searches the other.

mod layout;
mod levels;
mod make;
mod searches;
mod size_ranges;

pub(crate) use self::make::{Plan, plan};
