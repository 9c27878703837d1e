//! The simulation of a fluid of hard spheres, on the CPU or on a GPU.

use carom::{Domain, HardSphere, Simulation, SimulationOptions};

use crate::gpu::OnGpu;

/// Mean number of impacts of each sphere in a substep on the CPU, unless the command says otherwise.
const IMPACTS: f64 = 0.4;

#[allow(
    clippy::large_enum_variant,
    reason = "a program has one engine, which is not moved"
)]
pub(crate) enum Engine {
    Cpu {
        simulation: Simulation,
        /// Mean number of impacts of each sphere in a substep.
        impacts: f64,
        totals: Totals,
    },
    Gpu(OnGpu),
}

/// Results of a simulation, added up since its start. `largest_island` is a maximum instead of a
/// sum.
#[derive(Clone, Copy, Default)]
pub(crate) struct Totals {
    pub(crate) time: f64,
    pub(crate) impacts: u64,
    pub(crate) virial: f64,
    pub(crate) substeps: u64,
    pub(crate) largest_island: usize,
}

impl Engine {
    pub(crate) fn on_cpu(
        spheres: Vec<HardSphere>,
        domain: Domain,
        impacts: Option<f64>,
    ) -> anyhow::Result<Self> {
        let impacts = impacts.unwrap_or(IMPACTS);
        let options = SimulationOptions::new()
            .with_domain(domain)
            .with_impacts_per_substep(impacts);
        Ok(Self::Cpu {
            simulation: Simulation::new(spheres, options)?,
            impacts,
            totals: Totals::default(),
        })
    }

    pub(crate) fn on_gpu(
        spheres: &[HardSphere],
        domain: Domain,
        impacts: Option<f64>,
    ) -> anyhow::Result<Self> {
        OnGpu::new(spheres, domain, impacts).map(Self::Gpu)
    }

    pub(crate) fn impacts_per_substep(&self) -> f64 {
        match self {
            Self::Cpu { impacts, .. } => *impacts,
            Self::Gpu(gpu) => gpu.impacts_per_recording(),
        }
    }

    /// Advances the simulation by the time `duration`. Returns totals since the start of the
    /// simulation, such as the simulated time and the number of impacts.
    pub(crate) fn step(&mut self, duration: f64) -> anyhow::Result<Totals> {
        match self {
            Self::Cpu {
                simulation, totals, ..
            } => {
                let report = simulation.step(duration)?;
                totals.time = simulation.time();
                totals.impacts += report.sphere_impacts;
                totals.virial += report.virial;
                totals.substeps += report.substeps;
                totals.largest_island = totals.largest_island.max(report.largest_island);
                Ok(*totals)
            }
            #[allow(
                clippy::cast_possible_truncation,
                reason = "the GPU computes in float32"
            )]
            Self::Gpu(gpu) => {
                let state = gpu.advance(duration as f32)?;
                Ok(Totals {
                    time: state.time,
                    impacts: state.sphere_impacts,
                    virial: state.virial,
                    substeps: state.substeps.into(),
                    largest_island: 0,
                })
            }
        }
    }

    pub(crate) fn spheres(&self) -> anyhow::Result<Vec<HardSphere>> {
        match self {
            Self::Cpu { simulation, .. } => Ok(simulation.spheres().to_vec()),
            Self::Gpu(gpu) => gpu.spheres(),
        }
    }
}
