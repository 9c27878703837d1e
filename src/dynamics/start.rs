//! The state at the start of a substep.

use rayon::prelude::*;

use super::candidate::TouchKey;
use super::forces::RestForces;
use super::rules::ResponseRule;
use super::state::State;
use super::walls::MovingWalls;
use super::{HardSphere, SimulationOptions};
use crate::lattice::Lattice;

/// The state at the start of a substep, which does not change until the substep is complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub(crate) spheres: &'a [HardSphere],
    /// The caller's index of each sphere.
    pub(crate) ids: &'a [u32],
    /// Whether each sphere has been removed.
    pub(crate) removed: &'a [bool],
    /// Time of the last impact of each sphere, relative to the start of the substep. Empty if
    /// [`SimulationOptions::with_contact_time`] is 0.
    pub(crate) last: &'a [f64],
    pub(crate) options: &'a SimulationOptions,
    pub(crate) lattice: &'a Lattice,
    pub(crate) walls: &'a MovingWalls,
    pub(crate) rule: ResponseRule<'a>,
    /// Time of the simulation at the start of the substep.
    pub(crate) time: f64,
    pub(crate) duration: f64,
    /// Largest number of impacts of one sphere in the substep.
    pub(crate) most_impacts: u32,
    /// Whether each sphere rests at the start of the substep. Empty if no sphere can rest.
    pub(crate) resting: &'a [bool],
    /// The forces of the spheres at rest, if there are any.
    pub(crate) rest: Option<&'a RestForces>,
    /// The pairs that pass through each other since a rule has ignored their impact, sorted.
    pub(crate) passing: &'a [TouchKey],
    /// Whether gravity may accelerate only some of the spheres.
    pub(crate) mixed: bool,
}

impl<'a> Start<'a> {
    /// Returns the state at a time, for a substep without a duration in which no sphere rests.
    pub(crate) fn at(
        state: &'a State,
        options: &'a SimulationOptions,
        lattice: &'a Lattice,
        walls: &'a MovingWalls,
        rule: ResponseRule<'a>,
        time: f64,
    ) -> Self {
        Self {
            spheres: &state.spheres,
            ids: &state.ids,
            removed: &state.removed,
            last: &[],
            options,
            lattice,
            walls,
            rule,
            time,
            duration: 0.0,
            most_impacts: 0,
            resting: &[],
            rest: None,
            passing: &[],
            mixed: false,
        }
    }

    /// Returns the number of spheres that have not been removed.
    pub(crate) fn present(&self) -> usize {
        self.removed.iter().filter(|&&removed| !removed).count()
    }

    /// Returns true if every two spheres can meet. This is so if there are no compound bodies, no
    /// collision groups, no removed spheres and no spheres of infinite mass.
    pub(crate) fn all_meet(&self) -> bool {
        self.options.bodies.is_empty()
            && self.options.groups.is_empty()
            && !self.removed.par_iter().any(|&removed| removed)
            && !self.spheres.par_iter().any(HardSphere::is_fixed)
    }
}
