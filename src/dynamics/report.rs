//! The results of a step of a simulation.

use std::cmp::Ordering;

use glam::DVec3;

use super::rows::SUBSTEP;
use crate::Error;
use crate::memory::collect;

/// The object that a sphere hits: another sphere or a wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Partner {
    /// The partner is the sphere with this index.
    Sphere(u32),
    /// The partner is the wall with this number. [`Walls`](crate::Walls) says how walls are
    /// numbered.
    Wall(u32),
}

/// An impact of two spheres, or of a sphere and a wall, during a step of a [`Simulation`](crate::Simulation).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Impact {
    /// Time of the impact, on the clock of [`Simulation::time`](crate::Simulation::time).
    pub time: f64,
    /// Index of the sphere, or the smaller of the two indices for an impact of two spheres.
    pub sphere: u32,
    /// The object that the sphere hits.
    pub partner: Partner,
    /// In a periodic domain, the periodic copy that takes part in the impact: the image of the partner that
    /// the sphere hits or, at a wall, the image of the sphere that hits the wall. The image [0, 0, 0] is the
    /// one with its centre in the cell at the start of the substep.
    pub image: [i32; 3],
    /// The contact point on the surface of the sphere. In a periodic domain, the point lies on one image of the sphere:
    /// at a wall, the image that hits the wall, and otherwise the image that has its centre in the cell at the start of
    /// the substep. So the point may lie outside the cell.
    pub point: [f64; 3],
    /// Unit vector from the centre of the sphere to the contact point.
    pub normal: [f64; 3],
    /// Momentum that passes from the sphere to its partner: the momentum that the sphere loses, and that its partner
    /// gains. It is parallel to the normal, unless a rule or the
    /// [contact time](crate::SimulationOptions::with_contact_time) also changes the velocities along other directions.
    ///
    /// A rule need not conserve momentum. The impulse is then the momentum that the sphere loses. If the sphere has
    /// infinite mass, or is removed, the impulse is the momentum that its partner gains. If no sphere of finite mass
    /// remains, the impulse is 0.
    pub impulse: [f64; 3],
}

/// A sphere that was removed by [`Outcome::Remove`](crate::Outcome::Remove).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Removal {
    /// Time of the removal, on the clock of [`Simulation::time`](crate::Simulation::time).
    pub time: f64,
    /// Index of the sphere.
    pub sphere: u32,
    /// Velocity of the sphere just before its removal. The simulation loses the momentum and the kinetic energy
    /// that the sphere has with this velocity.
    pub velocity: [f64; 3],
}

impl Removal {
    /// Compares the order in which spheres are removed: by time, then by sphere.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let by_time = self.time.total_cmp(&other.time);
        by_time.then_with(|| self.sphere.cmp(&other.sphere))
    }
}

impl Impact {
    /// Compares the places of two impacts in the list: by time, then by sphere, partner and image.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let key = |impact: &Self| (impact.sphere, impact.partner, impact.image);
        let by_time = self.time.total_cmp(&other.time);
        by_time.then_with(|| key(self).cmp(&key(other)))
    }
}

/// Sums over the impacts of one step, returned by [`Simulation::step`](crate::Simulation::step).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StepReport {
    /// Number of impacts between spheres, without encounters that a rule ignores.
    pub sphere_impacts: u64,
    /// Number of impacts of spheres with walls, without encounters that a rule ignores.
    pub wall_impacts: u64,
    /// For each wall, the sum of the momenta that the spheres passed to it. The triangles of meshes after the last one
    /// to which momentum was passed are left out. The pressure on a wall is the part
    /// along its normal, divided by its area and by the duration of the step. Spheres that a rule removes at a
    /// wall pass no momentum to it: see [`Removal::velocity`].
    pub wall_impulses: Vec<[f64; 3]>,
    /// Virial: the sum, over the impacts between spheres, of the distance of the centres times the impulse along the
    /// normal.
    ///
    /// Let W be the virial of all impacts in a time τ, and E the kinetic energy. The
    /// compressibility factor of N equal spheres is then Z = 1 + W / (2·E·τ). In three dimensions,
    /// 2·E is 3·N·k·T.
    pub virial: f64,
    /// The spheres that were removed, in the order of time and sphere.
    pub removed: Vec<Removal>,
    /// Kinetic energy of all spheres of finite mass at the end of the step. Removed spheres have none.
    pub kinetic_energy: f64,
    /// Whether the step has reached its end. If not, it has had as many impacts as
    /// [`SimulationOptions::with_max_step_impacts`](crate::SimulationOptions::with_max_step_impacts) allows, or was ended by
    /// [`Simulation::step_while`](crate::Simulation::step_while), and
    /// [`Simulation::time`](crate::Simulation::time) is the time reached. The next step goes on from there.
    pub completed: bool,
    /// Number of substeps.
    pub substeps: u64,
    /// Number of spheres in the largest group whose impacts had to be processed one after the other.
    pub largest_island: usize,
    /// Number of rounds, summed over all substeps. A round processes the impacts inside groups of
    /// spheres that hit each other, and then merges the groups whose spheres meet.
    pub rounds: u64,
    /// The impacts in the order of time. Impacts at exactly the same time are in the order of sphere, partner and
    /// image, even if one of them has caused another. Empty unless
    /// [`SimulationOptions::with_impact_list`](crate::SimulationOptions::with_impact_list) requests the list.
    pub impacts: Vec<Impact>,
    /// The contacts that began in this step: each sphere with its partner, once, in order. Of two spheres, the one with
    /// the smaller index is first. A pair is in contact in a step if it has an impact in the step, or presses on each
    /// other at its end, as bodies at rest do ([`SimulationOptions::with_contact_time`](crate::SimulationOptions::with_contact_time)).
    /// So the pair of each impact is in `began` or in [`lasted`](Self::lasted), once.
    ///
    /// Empty, like `lasted` and `ended`, unless
    /// [`SimulationOptions::with_contact_changes`](crate::SimulationOptions::with_contact_changes) requests the contacts.
    pub began: Vec<(u32, Partner)>,
    /// The contacts of this step that were also contacts of the step before.
    pub lasted: Vec<(u32, Partner)>,
    /// The contacts of the step before that are none in this step, except with walls that are gone and with spheres whose
    /// index another one has now.
    pub ended: Vec<(u32, Partner)>,
}

/// What resting spheres pass to others in a substep.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    /// The momenta that pass to walls, each with the number of the wall.
    pub(crate) to_walls: Vec<(u32, DVec3)>,
    pub(crate) virial: f64,
}

impl StepReport {
    /// Divides the contacts of a step, sorted and in `began`, by those of the step before, which are sorted, too.
    pub(crate) fn compare_contacts(&mut self, before: &[(u32, Partner)]) -> Result<(), Error> {
        let is_in = |list: &[_], pair: &_| list.binary_search(pair).is_ok();
        let ended = before.iter().filter(|pair| !is_in(&self.began, pair));
        self.ended = collect(ended.copied(), SUBSTEP)?;
        let lasted = self.began.iter().filter(|pair| is_in(before, pair));
        self.lasted = collect(lasted.copied(), SUBSTEP)?;
        self.began.retain(|pair| !is_in(before, pair));
        Ok(())
    }

    /// Adds what spheres at rest pass to others.
    pub(crate) fn rest(&mut self, passed: Passed) {
        for (wall, momentum) in passed.to_walls {
            self.pass(wall, momentum);
        }
        self.virial += passed.virial;
    }

    /// Adds a momentum that passes to a wall.
    pub(crate) fn pass(&mut self, wall: u32, momentum: DVec3) {
        let wall = wall as usize;
        if wall >= self.wall_impulses.len() {
            self.wall_impulses.resize(wall + 1, [0.0; 3]);
        }
        let sum = &mut self.wall_impulses[wall];
        *sum = (DVec3::from(*sum) + momentum).to_array();
    }
}
