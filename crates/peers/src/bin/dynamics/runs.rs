//! The programs that move the spheres: carom and the serial event-driven simulation.

use carom::{Domain, HardSphere, Simulation, SimulationOptions, StepReport};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::heap::Heap;

/// A simulation that the benchmark times: carom, or the serial event-driven simulation.
pub(crate) trait Run {
    fn name(&self) -> String;
    /// Moves the spheres by the time `duration`. Returns the number of impacts, or `None` if this
    /// program does not count them.
    fn advance(&mut self, duration: f64) -> anyhow::Result<Option<u64>>;
    fn energy(&self) -> f64;
    /// Returns the centres of all spheres, or `None` if the timed program does not keep them in a
    /// periodic cube.
    fn places(&self) -> Option<Vec<[f64; 3]>>;
    /// Returns a line of text with numbers that the other timed programs do not have, such as carom's
    /// substeps.
    fn remark(&self) -> String;
}

pub(crate) struct ByCarom {
    simulation: Simulation,
    pool: ThreadPool,
    threads: usize,
    total: StepReport,
}

impl ByCarom {
    pub(crate) fn new(
        spheres: &[HardSphere],
        domain: Domain,
        threads: usize,
    ) -> anyhow::Result<Self> {
        let options = SimulationOptions::new().with_domain(domain);
        Ok(Self {
            simulation: Simulation::new(spheres.to_vec(), options)?,
            pool: ThreadPoolBuilder::new().num_threads(threads).build()?,
            threads,
            total: StepReport::default(),
        })
    }
}

impl Run for ByCarom {
    fn name(&self) -> String {
        match self.threads {
            1 => "carom, 1 thread".to_owned(),
            threads => format!("carom, {threads} threads"),
        }
    }

    fn advance(&mut self, duration: f64) -> anyhow::Result<Option<u64>> {
        let simulation = &mut self.simulation;
        let report = self.pool.install(|| simulation.step(duration))?;
        self.total.sphere_impacts += report.sphere_impacts;
        self.total.substeps += report.substeps;
        self.total.rounds += report.rounds;
        Ok(Some(report.sphere_impacts))
    }

    fn energy(&self) -> f64 {
        self.simulation.kinetic_energy()
    }

    fn places(&self) -> Option<Vec<[f64; 3]>> {
        let spheres = self.simulation.spheres().iter();
        Some(spheres.map(|sphere| sphere.center).collect())
    }

    fn remark(&self) -> String {
        let substeps = self.total.substeps as f64;
        let rounds = self.total.rounds as f64 / substeps;
        let impacts = self.total.sphere_impacts as f64 / substeps;
        format!("{substeps} substeps of {impacts:.0} impacts and {rounds:.1} rounds")
    }
}

pub(crate) struct ByHeap(Heap);

impl ByHeap {
    pub(crate) fn new(spheres: &[HardSphere], edge: f64) -> anyhow::Result<Self> {
        let places: Vec<_> = spheres.iter().map(|s| s.center).collect();
        let velocities: Vec<_> = spheres.iter().map(|s| s.velocity).collect();
        Heap::new(&places, &velocities, edge).map(Self)
    }
}

impl Run for ByHeap {
    fn name(&self) -> String {
        "heap".to_owned()
    }

    fn advance(&mut self, duration: f64) -> anyhow::Result<Option<u64>> {
        let before = self.0.hits;
        self.0.advance(self.0.time + duration);
        Ok(Some(self.0.hits - before))
    }

    fn energy(&self) -> f64 {
        let (_, velocities) = self.0.state();
        0.5 * velocities.iter().flatten().map(|v| v * v).sum::<f64>()
    }

    fn places(&self) -> Option<Vec<[f64; 3]>> {
        Some(self.0.state().0)
    }

    fn remark(&self) -> String {
        let each = |count: u64| count as f64 / self.0.hits as f64;
        format!(
            "for each impact {:.2} changes of cell and {:.2} outdated predictions",
            each(self.0.exits),
            each(self.0.stale)
        )
    }
}
