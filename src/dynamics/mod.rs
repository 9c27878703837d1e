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
//! `rest` lets spheres that gravity presses together lie still. The module `substep` runs the stages of a substep, and the module `pace` chooses the substep's
//! duration. `docs/design.md`, "Hard-sphere dynamics", explains why the result is the true sequence
//! of impacts.

mod boxes;
mod candidates;
mod contact;
mod descent;
mod flights;
mod hard_sphere;
mod impulses;
mod islands;
mod joint;
mod merge;
mod neighbors;
mod options;
mod pace;
mod path;
mod predict;
mod replay;
mod report;
mod rest;
mod rows;
mod rules;
mod separate;
mod simulation;
mod state;
mod substep;
pub(crate) mod surface;
mod walls;

pub use self::hard_sphere::HardSphere;
pub use self::options::SimulationOptions;
pub use self::report::{Impact, Partner, Removal, StepReport};
pub use self::rules::{Encounter, Outcome, Response};
pub use self::simulation::Simulation;
