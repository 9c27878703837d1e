//! Options of a hard-sphere simulation on the GPU.

use super::shader::constants::MOST_WALLS;
use super::shader::layout::GpuWallLattice;
use crate::{Error, SimulationOptions};

/// Options of a [`SimulationBuffers`](super::SimulationBuffers): its capacities, and the rules of the
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
#[non_exhaustive]
pub struct SimulationBufferOptions {
    /// Largest number of spheres; at least 1. A sphere takes some 520 bytes. With meshes, a sphere takes some 170
    /// bytes more, and each triangle some 320 bytes.
    pub spheres: u32,
    /// Capacity for candidates (pairs of spheres that may meet in a substep), at some 60 bytes each. `None` is
    /// eight times the number of spheres plus 1024. A substep with more candidates is rolled back, and the next
    /// one is shorter.
    ///
    /// Two spheres of one compound body take room in the list of candidates, too, if they are close
    /// to each other. A shorter substep has as many of these pairs, so the capacity must suffice
    /// for all of them.
    ///
    /// With meshes, `candidates` also limits the number of another kind of pair: a sphere (padded
    /// by its motion) and the bounding sphere of a triangle. Each of these pairs takes some 50
    /// bytes. A shorter substep has nearly as many of them. So if
    /// [`SimulationState::candidates`](super::SimulationState::candidates) exceeds the capacity and
    /// the time of the simulation no longer advances, increase the capacity, or divide large
    /// triangles into smaller ones.
    pub candidates: Option<u32>,
    /// Number of substeps in a recording; at least 1. The default is 4. The GPU chooses the
    /// duration of each substep, with the aim of 0.2 impacts of each sphere in a substep. A substep
    /// that is not needed, because the requested time is reached before, costs little.
    pub substeps: u32,
    /// Number of rounds in a substep; at least 1. The default is 24. In a round, each sphere can have one
    /// impact. A substep that needs more rounds is rolled back, and the next one is shorter.
    pub rounds: u32,
    /// Largest number of recordings that are in flight at once; at least 1. The default is 4.
    pub recordings: u32,
    /// Capacity of the [list of impacts](super::SimulationBuffers::impacts), at 64 bytes each, or `None`. There is a
    /// list if this option or [`SimulationOptions::impact_list`] requests it. If only the latter does, the capacity is
    /// the number of spheres plus 1024. No impact is lost if the list is full: see
    /// [`SimulationStatus::IMPACTS_FULL`](super::SimulationStatus::IMPACTS_FULL).
    pub impacts: Option<u32>,
    /// The rules: restitution, walls, gravity, domain, contact time, and the target number of impacts for each sphere
    /// in a substep.
    ///
    /// The options `max_impacts` and `threads` have no effect on a GPU. A simulation on a GPU has
    /// at most 32 walls (each mesh counts as one). In a periodic domain, a solid sphere or cylinder
    /// may be at most 100 cells away from the periodic cell, and its radius may be at most six
    /// cells. With such walls, spheres may be at most 20 cells away from the periodic cell.
    ///
    /// The option `bodies` (the compound body of each sphere) may have at most as many entries as
    /// the buffers have room for spheres. The option `groups` must be empty, because collision
    /// groups of spheres on a GPU are in [`DeviceSpheres::groups`](super::DeviceSpheres::groups).
    pub simulation: SimulationOptions,
}

impl SimulationBufferOptions {
    /// Returns the default options for at most `spheres` spheres: elastic spheres in open space.
    pub fn new(spheres: u32) -> Self {
        Self {
            spheres,
            candidates: None,
            substeps: 4,
            rounds: 24,
            recordings: 4,
            impacts: None,
            simulation: SimulationOptions::new().with_impacts_per_substep(0.2),
        }
    }

    /// Returns the options with room for this number of [`candidates`](Self::candidates).
    #[must_use]
    pub fn with_candidates(mut self, candidates: u32) -> Self {
        self.candidates = Some(candidates);
        self
    }

    /// Returns the options with this number of [`substeps`](Self::substeps) in each recording of
    /// commands.
    #[must_use]
    pub fn with_substeps(mut self, substeps: u32) -> Self {
        self.substeps = substeps;
        self
    }

    /// Returns the options with this number of [`rounds`](Self::rounds) in a substep.
    #[must_use]
    pub fn with_rounds(mut self, rounds: u32) -> Self {
        self.rounds = rounds;
        self
    }

    /// Returns the options with at most this number of [`recordings`](Self::recordings) in flight.
    #[must_use]
    pub fn with_recordings(mut self, recordings: u32) -> Self {
        self.recordings = recordings;
        self
    }

    /// Returns the options with a list of impacts, with room for this number of [`impacts`](Self::impacts).
    #[must_use]
    pub fn with_impacts(mut self, impacts: u32) -> Self {
        self.impacts = Some(impacts);
        self
    }

    /// Returns the options with these [rules](Self::simulation) of the simulation. One of the rules
    /// is the target for the mean number of impacts of each sphere in a substep. If it is greater
    /// than 0.2, it becomes 0.2.
    #[must_use]
    pub fn with_simulation(mut self, simulation: SimulationOptions) -> Self {
        self.simulation = simulation;
        let impacts = &mut self.simulation.impacts_per_substep;
        *impacts = impacts.min(0.2);
        self
    }

    pub(super) fn most_candidates(&self) -> u32 {
        let usual = self.spheres.saturating_mul(8).saturating_add(1024);
        // The shaders store the number of a candidate pair in 28 bits.
        self.candidates.unwrap_or(usual).clamp(1, (1 << 28) - 1)
    }

    /// Returns the capacity of the list of impacts, or 0 without a list.
    pub(super) fn most_impacts(&self) -> u32 {
        let usual = self.spheres.saturating_add(1024);
        let requested = self.simulation.impact_list.then_some(usual);
        self.impacts.or(requested).unwrap_or(0)
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        for (what, capacity) in [
            ("spheres", self.spheres),
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
                "the collision groups of spheres on a GPU belong into `DeviceSpheres::groups`"
                    .into(),
            );
        }
        rules.check(self.spheres as usize)?;
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
