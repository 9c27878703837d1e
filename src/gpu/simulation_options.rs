//! Options of a hard-sphere simulation on the GPU.

use super::shader::constants::MOST_WALLS;
use crate::{Error, SimulationOptions, WallShape};

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
    /// Largest number of spheres; at least 1. A sphere takes some 550 bytes. With meshes, a sphere takes some 200
    /// bytes more, and each triangle some 350 bytes.
    pub spheres: u32,
    /// Capacity for candidates (pairs of spheres that may meet in a substep), at some 60 bytes each. `None` is
    /// eight times the number of spheres plus 1024. A substep with more candidates is rolled back, and the next
    /// one is shorter.
    ///
    /// With meshes, the same capacity holds separately for pairs of a sphere, padded by its motion, and the bounding
    /// sphere of a triangle, at some 25 bytes each. A shorter substep has nearly as many of these pairs as a longer
    /// one, so shortening it does not help. So if [`SimulationState::candidates`](super::SimulationState::candidates)
    /// exceeds the capacity and the time of the simulation no longer advances, increase the capacity, or divide large
    /// triangles into smaller ones.
    pub candidates: Option<u32>,
    /// Number of substeps in a recording; at least 1. The default is 4. The duration of a substep is chosen so
    /// that a sphere has 0.2 impacts on average. A substep that is not needed costs little.
    pub substeps: u32,
    /// Number of rounds in a substep; at least 1. The default is 24. In a round, each sphere can have one
    /// impact. A substep that needs more rounds is rolled back, and the next one is shorter.
    pub rounds: u32,
    /// Largest number of recordings that are in flight at once; at least 1. The default is 4.
    pub recordings: u32,
    /// The rules: restitution, walls, gravity, domain, contact time, and the target number of impacts for each sphere
    /// in a substep.
    ///
    /// `max_impacts` and `threads` have no effect. A GPU has no compound bodies, no list of impacts, at most 32
    /// walls (each mesh counts as one), and only half-spaces as walls in a periodic domain. Collision groups of the
    /// spheres are in [`DeviceSpheres::groups`](super::DeviceSpheres::groups).
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
            simulation: SimulationOptions::new().with_impacts_per_substep(0.2),
        }
    }

    /// Returns the options with room for this number of [`candidates`](Self::candidates).
    #[must_use]
    pub fn with_candidates(mut self, candidates: u32) -> Self {
        self.candidates = Some(candidates);
        self
    }

    /// Returns the options with this number of [`substeps`](Self::substeps) in a recording.
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

    /// Returns the options with these [rules](Self::simulation). The target number of impacts for each sphere
    /// in a substep is limited to 0.2.
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

    pub(super) fn check(&self) -> Result<(), Error> {
        for (what, capacity) in [
            ("spheres", self.spheres),
            ("substeps", self.substeps),
            ("rounds", self.rounds),
            ("recordings", self.recordings),
        ] {
            if capacity == 0 {
                return Err(Error::ZeroCapacity { what });
            }
        }
        let rules = &self.simulation;
        let only_on_cpu = [
            (!rules.bodies.is_empty(), "compound bodies"),
            (rules.impact_list, "a list of impacts"),
        ];
        let invalid = |problem| Err(Error::InvalidSimulation { problem });
        if let Some((_, what)) = only_on_cpu.iter().find(|(asked, _)| *asked) {
            return invalid(format!(
                "a simulation on a GPU cannot have {what}; use `carom::Simulation`"
            ));
        }
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
        let is_flat = |shape: &WallShape| matches!(shape, WallShape::HalfSpace { .. });
        let only_flat = meshes.is_empty() && walls.iter().all(|wall| is_flat(&wall.shape));
        if !rules.domain.is_open() && !only_flat {
            return invalid(
                "in a periodic domain, only half-spaces can be walls of a simulation on a GPU; use \
                 `carom::Simulation`"
                    .into(),
            );
        }
        Ok(())
    }
}
