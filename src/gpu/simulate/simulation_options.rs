//! Options of a hard-sphere simulation on the GPU.

use crate::gpu::device::shader::constants::{MOST_IMPACTS, MOST_WALLS};
use crate::gpu::device::shader::layout::GpuWallLattice;
use crate::{Error, SimulationOptions};

/// Largest target for the mean number of impacts of each sphere in a substep, and the default.
const MOST_IMPACTS_PER_SUBSTEP: f64 = 0.2;

/// If candidates do not fit into the buffers of the device, there is room for at least so many for each sphere.
const LEAST_CANDIDATES: u64 = 3;

/// Largest capacity for candidates. The shaders store the number of a candidate pair in 27 bits.
const MOST_CANDIDATES: u32 = (1 << 27) - 1;

/// Options of a [`SimulationBuffers`](crate::gpu::SimulationBuffers): its capacities, and the rules of the
/// impacts.
///
/// ```
/// use carom::SimulationOptions;
/// use carom::gpu::SimulationBufferOptions;
///
/// let rules = SimulationOptions::new().with_restitution(0.9);
/// let options = SimulationBufferOptions::new(100_000).with_simulation(rules).with_substeps(8);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationBufferOptions {
    pub(crate) spheres: u32,
    candidates: Option<u32>,
    pub(crate) substeps: u32,
    pub(crate) rounds: u32,
    pub(crate) recordings: u32,
    pub(crate) most_remaining: f32,
    impacts: Option<u32>,
    /// Number of impacts for which each path has room.
    pub(crate) path_room: u32,
    pub(crate) simulation: SimulationOptions,
}

impl SimulationBufferOptions {
    /// Returns the default options for at most `spheres` spheres, at least 1: elastic spheres in open space. A sphere
    /// takes some 520 bytes, and its candidates more ([`with_candidates`](Self::with_candidates)). With meshes, a sphere takes
    /// some 170 bytes more, and each triangle some 320 bytes. If spheres can rest, a sphere takes 180 bytes more, 32 for
    /// each wall, and 64 for each candidate.
    ///
    /// A device with `wgpu::Limits::default()`, whose storage buffers have at most 128 MiB, holds 1 048 576 spheres, or
    /// 699 000 with meshes. If spheres can rest, it holds 262 000 with six walls, and some 15 000 fewer with each
    /// further one. From about half of these numbers on, substeps are shorter, because there is less room for candidates and
    /// for the impacts of a sphere in a substep. For more spheres, request the device with the limits of its adapter.
    pub fn new(spheres: u32) -> Self {
        Self {
            spheres,
            candidates: None,
            substeps: 4,
            rounds: 24,
            recordings: 4,
            most_remaining: f32::INFINITY,
            impacts: None,
            path_room: MOST_IMPACTS,
            simulation: SimulationOptions::new(),
        }
    }

    /// Sets the capacity for candidates (pairs of spheres that may meet in a substep), from 1 to 2²⁷ − 1, at some 60
    /// bytes each. The default is eight times the number of spheres plus 1024, or what the storage buffers of the device have
    /// room for. A substep with more candidates is
    /// rolled back, and the next one is shorter.
    ///
    /// Two spheres of one compound body take room in the list of candidates, too, if they are close
    /// to each other. A shorter substep has as many of these pairs, so the capacity must suffice
    /// for all of them.
    ///
    /// With meshes, `candidates` also limits the number of another kind of pair: a sphere (padded
    /// by its motion) and the bounding sphere of a triangle. Each of these pairs takes some 50
    /// bytes. A shorter substep has nearly as many of them. So if
    /// [`SimulationState::candidates`](crate::gpu::SimulationState::candidates) exceeds the capacity and
    /// the time of the simulation no longer advances, increase the capacity, or divide large
    /// triangles into smaller ones.
    #[must_use]
    pub fn with_candidates(mut self, candidates: u32) -> Self {
        self.candidates = Some(candidates);
        self
    }

    /// Sets the number of substeps in a recording, at least 1. The default is 4. The GPU chooses the duration of each
    /// substep, with the aim of 0.2 impacts of each sphere in a substep, or of fewer if
    /// [`SimulationOptions::with_impacts_per_substep`] says so. A substep that is not needed, because the requested
    /// time is reached before, costs little.
    ///
    /// So a recording needs some five substeps for each impact that a sphere has in its duration, and spheres that pour
    /// or settle need some ten more. A recording with too few has the status
    /// [`BEHIND`](crate::gpu::SimulationStatus::BEHIND), and
    /// [`SimulationState::substeps_for`](crate::gpu::SimulationState::substeps_for) says how many the next one needs.
    #[must_use]
    pub fn with_substeps(mut self, substeps: u32) -> Self {
        self.substeps = substeps;
        self
    }

    /// Sets the most time that a recording takes over from earlier ones, which did not complete it: 0 or more. What exceeds
    /// it is dropped, and [`SimulationState::dropped`](crate::gpu::SimulationState::dropped) says how much that was. So a
    /// simulation with too few substeps is slow, and does not fall behind more and more. By default, nothing is dropped.
    #[must_use]
    pub fn with_most_remaining(mut self, duration: f32) -> Self {
        self.most_remaining = duration;
        self
    }

    /// Sets the number of rounds in a substep, at least 1. The default is 24. In a round, each sphere can have one
    /// impact. A substep that needs more rounds is rolled back, and the next one is shorter. With gravity and a contact
    /// time, it ends early instead, and has at least 8 rounds.
    #[must_use]
    pub fn with_rounds(mut self, rounds: u32) -> Self {
        self.rounds = rounds;
        self
    }

    /// Sets the largest number of recordings that are in flight at once, at least 1. The default is 4. As many
    /// readbacks may be in flight at once.
    #[must_use]
    pub fn with_recordings(mut self, recordings: u32) -> Self {
        self.recordings = recordings;
        self
    }

    /// Requests a [list of impacts](crate::gpu::SimulationBuffers::impacts) that has room for this number of impacts, at
    /// least 1, at 64 bytes each. There is a list if this option or [`SimulationOptions::with_impact_list`] requests
    /// it. If only the latter does, the capacity is the number of spheres plus 1024. No impact is lost if the list is
    /// full: see [`SimulationStatus::IMPACTS_FULL`](crate::gpu::SimulationStatus::IMPACTS_FULL).
    #[must_use]
    pub fn with_impacts(mut self, impacts: u32) -> Self {
        self.impacts = Some(impacts);
        self
    }

    /// Sets the rules: restitution, walls, gravity, domain, contact time, compound bodies, list of impacts, and the
    /// target number of impacts of each sphere in a substep.
    ///
    /// [`create_simulation`](crate::gpu::CollisionPipeline::create_simulation) returns an error for rules that a GPU cannot
    /// follow:
    ///
    /// - A simulation on a GPU has at most 32 walls (each mesh counts as one). In a periodic domain, a solid sphere or
    ///   cylinder may be at most 100 cells away from the periodic cell, and its radius may be at most six cells. With
    ///   such walls, spheres may be at most 20 cells away from the periodic cell.
    /// - [`with_impacts_per_substep`](SimulationOptions::with_impacts_per_substep) may be at most 0.2, the default on
    ///   a GPU.
    /// - [`with_bodies`](SimulationOptions::with_bodies) and [`with_restitutions`](SimulationOptions::with_restitutions)
    ///   must have as many entries as the buffers have room for spheres, or none.
    /// - [`with_max_impacts`](SimulationOptions::with_max_impacts) and
    ///   [`with_max_step_impacts`](SimulationOptions::with_max_step_impacts) must not be set.
    /// - [`with_contact_changes`](SimulationOptions::with_contact_changes) must not be set.
    /// - [`with_groups`](SimulationOptions::with_groups) must not be set, because collision groups of spheres on a GPU
    ///   are in [`DeviceSpheres::with_groups`](crate::gpu::DeviceSpheres::with_groups).
    ///
    /// With gravity, a contact time counts as at least a thousandth of the time in which the largest sphere falls by its
    /// radius. Float32 numbers let no sphere rest with a shorter one.
    #[must_use]
    pub fn with_simulation(mut self, simulation: SimulationOptions) -> Self {
        self.simulation = simulation;
        self
    }

    pub(crate) fn impacts_per_substep(&self) -> f64 {
        let impacts = self.simulation.impacts_per_substep;
        impacts.unwrap_or(MOST_IMPACTS_PER_SUBSTEP)
    }

    /// Reduces the usual capacity for candidates to `most`.
    pub(crate) fn limit_candidates(&mut self, most: u64) {
        let usual = self.most_candidates();
        if self.candidates.is_none() && most < usual.into() {
            let least = LEAST_CANDIDATES * u64::from(self.spheres);
            self.candidates = u32::try_from(most.max(least)).ok();
        }
    }

    pub(crate) fn most_candidates(&self) -> u32 {
        let usual = self.spheres.saturating_mul(8).saturating_add(1024);
        self.candidates.unwrap_or(usual.min(MOST_CANDIDATES))
    }

    /// Returns the capacity of the list of impacts, or 0 without a list.
    pub(crate) fn most_impacts(&self) -> u32 {
        let usual = self.spheres.saturating_add(1024);
        let requested = self.simulation.impact_list.then_some(usual);
        self.impacts.or(requested).unwrap_or(0)
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        for (what, capacity) in [
            ("spheres", self.spheres),
            ("candidates", self.most_candidates()),
            ("substeps", self.substeps),
            ("rounds", self.rounds),
            ("recordings", self.recordings),
            ("impacts", self.impacts.unwrap_or(1)),
        ] {
            if capacity == 0 {
                return Err(Error::ZeroCapacity { what });
            }
        }
        let rules = &self.simulation;
        let invalid = |problem| Err(Error::InvalidSimulation { problem });
        if !rules.groups.is_empty() {
            return invalid(
                "the collision groups of spheres on a GPU belong into `DeviceSpheres::with_groups`"
                    .into(),
            );
        }
        if self.most_remaining.is_nan() || self.most_remaining < 0.0 {
            return invalid(format!(
                "the most time that a recording takes over from earlier ones is {:?}, but must be 0.0 or more",
                self.most_remaining
            ));
        }
        rules.check(self.spheres as usize)?;
        if self.most_candidates() > MOST_CANDIDATES {
            return invalid(format!(
                "the capacity for candidates is {}, but must be at most {MOST_CANDIDATES}",
                self.most_candidates()
            ));
        }
        if rules.contacts {
            return invalid(
                "changes of contacts are requested, which a simulation on a GPU does not find; leave out \
                 `SimulationOptions::with_contact_changes`, or use `carom::Simulation`"
                    .into(),
            );
        }
        if rules.max_step_impacts != u64::MAX {
            return invalid(
                "the largest number of impacts in a step is set, but a recording on a GPU has a fixed number of \
                 substeps instead; leave out `SimulationOptions::with_max_step_impacts`, or use `carom::Simulation`"
                    .into(),
            );
        }
        if rules.max_impacts.is_some() {
            return invalid(
                "the largest number of impacts of a sphere in a substep is set, but a simulation on a GPU has no such \
                 limit; leave out `SimulationOptions::with_max_impacts`, or use `carom::Simulation`"
                    .into(),
            );
        }
        let impacts = self.impacts_per_substep();
        if impacts > MOST_IMPACTS_PER_SUBSTEP {
            return invalid(format!(
                "the number of impacts in a substep is {impacts:?}, but must be at most {MOST_IMPACTS_PER_SUBSTEP:?} \
                 on a GPU; choose a smaller number in `SimulationOptions::with_impacts_per_substep`, or use \
                 `carom::Simulation`"
            ));
        }
        let walls = rules.walls.simple();
        let meshes = rules.walls.meshes();
        if walls.len() + meshes.len() > MOST_WALLS as usize {
            return invalid(format!(
                "there are {} walls and {} meshes, but a simulation on a GPU has at most {MOST_WALLS} in all; use \
                 `carom::Simulation`",
                walls.len(),
                meshes.len()
            ));
        }
        let far = |wall| !GpuWallLattice::new(wall, &rules.domain).is_near(wall, &rules.domain);
        match walls.iter().position(far) {
            None => Ok(()),
            Some(wall) => Err(Error::InvalidWall {
                wall,
                problem: "it is more than 100 cells away from the cell of the periodic domain, or its radius is more \
                          than six cells, which a simulation on a GPU does not support; move it by whole edges, or \
                          use `carom::Simulation`"
                    .into(),
            }),
        }
    }
}
