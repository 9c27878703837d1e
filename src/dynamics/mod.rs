//! Hard-sphere dynamics: moves spheres through time so that every impact happens at its time and in its order.
//!
//! A step is divided into substeps. Each substep has these stages, each with a file of its name:
//!
//! - `candidates`: finds the pairs of spheres that can touch while every sphere stays within its
//!   pad, an assumed bound on the distance that it moves. The pairs are found in a tree of `boxes`.
//! - `predict`: finds the next impact of two spheres on their present paths; `surface` and `descent` do so for
//!   walls, and `contact` for both.
//! - `islands`: groups the spheres that hit each other, directly or through others.
//! - `replay`: processes the impacts of one island in the order of time.
//! - `merge`: tests the new paths against the spheres outside their islands, merges the islands that meet, and
//!   repeats until none do.
//!
//! `substep` runs these stages for the state in `start`; `straight` first tests the paths without impacts, and `response`
//! computes what an impact changes. `setting` is the state with its candidates. `rest` lets spheres that gravity presses
//! together lie still, and `pace` chooses the duration of a substep.
//! `work` is what searches count towards the limit of a step. `edits` changes the
//! world between steps. `docs/design.md`, "Hard-sphere dynamics", explains why
//! the result is the true sequence of impacts.

mod boxes;
mod candidate;
mod candidates;
#[cfg(feature = "serde")]
mod coded;
mod contact;
mod descent;
mod edits;
mod flights;
mod forces;
mod hard_sphere;
mod impulses;
mod islands;
mod joint;
mod merge;
mod narrow;
mod neighbors;
mod options;
mod pace;
mod padded;
mod path;
mod predict;
mod replay;
mod report;
mod response;
mod rest;
mod rows;
mod rules;
mod separate;
mod setting;
mod simulation;
#[cfg(feature = "serde")]
mod snapshot;
mod start;
mod state;
mod straight;
mod substep;
pub(crate) mod surface;
mod walls;
mod work;

pub use self::hard_sphere::HardSphere;
#[cfg(feature = "gpu")]
pub(crate) use self::options::check_restitution;
pub use self::options::{Combine, SimulationOptions};
pub use self::report::{Impact, Partner, Removal, StepReport};
pub use self::rules::{Encounter, Outcome, Response};
pub use self::simulation::Simulation;
