//! The contenders of the benchmark, one file each.

mod brute;
mod by_carom;
mod by_kiddo;
mod by_parry;
mod by_rapier;
mod by_rstar;
mod by_zelll;
mod grid;
mod plane_sweep;

use crate::step::{Found, World};

/// A contender: a method that finds the pairs of a step.
pub(crate) trait Contender {
    /// Returns the name of the contender in tables and on the command line.
    fn name(&self) -> &'static str;

    /// Returns the number of threads that the contender runs on.
    fn threads(&self) -> usize {
        1
    }

    /// Returns the reason why the contender does not run this step, or `None` if it does run it.
    /// This call is not timed.
    fn refusal(&self, _world: World<'_>) -> Option<String> {
        None
    }

    /// Makes the state that a simulation would have kept from the previous step. This call is not
    /// timed.
    fn prepare(&mut self, _world: World<'_>) -> anyhow::Result<()> {
        Ok(())
    }

    /// Finds the pairs of the step. Of the methods of a contender, only this one is timed. Its time
    /// includes the conversion of the spheres to the contender's own format and the sort of the
    /// pairs.
    fn step(&mut self, world: World<'_>) -> anyhow::Result<Found>;
}

/// Largest estimated number of candidates with which a contender runs. A step with more candidates
/// would take minutes, and would show nothing that a smaller step does not show.
const MOST_CANDIDATES: u64 = 1 << 33;

/// Names and descriptions of all contenders, in the order in which they run.
pub(crate) const NAMES: [(&str, &str); 12] = [
    (
        "carom",
        "carom's CPU backend, once with each number of threads",
    ),
    (
        "brute-force",
        "a test of every pair of swept balls; up to 20 000 spheres",
    ),
    ("plane-sweep", "sort and sweep of swept boxes on one axis"),
    (
        "plain-grid",
        "a dense grid of one level, filled by counting sort; the baseline",
    ),
    (
        "parry",
        "parry3d's BVH over swept boxes, rebuilt in each step",
    ),
    (
        "parry-kept",
        "the same BVH, kept from the previous step, updated and refitted",
    ),
    ("rapier", "rapier3d's broad phase, rebuilt in each step"),
    (
        "rapier-kept",
        "the same broad phase, kept from the previous step and updated",
    ),
    (
        "kiddo",
        "kiddo's k-d tree of swept balls; each ball queries smaller ones",
    ),
    (
        "rstar",
        "rstar's R*-tree over swept boxes, joined with itself",
    ),
    (
        "zelll",
        "zelll's cell lists of swept balls, cells as wide as the largest",
    ),
    (
        "dynamis",
        "dynamis-broadphase; not applicable, because it needs a GPU",
    ),
];

/// Returns the contenders that run under the given name. For the name `carom`, there is one
/// contender per number of threads. For any other name, there is one contender.
///
/// # Errors
///
/// Returns an error if there is no contender of this name, or if carom cannot start.
pub(crate) fn by_name(name: &str, threads: &[usize]) -> anyhow::Result<Vec<Box<dyn Contender>>> {
    let one: Box<dyn Contender> = match name {
        "carom" => {
            return threads
                .iter()
                .map(|&threads| Ok(Box::new(by_carom::Carom::new(threads)?) as Box<dyn Contender>))
                .collect();
        }
        "brute-force" => Box::new(brute::BruteForce),
        "plane-sweep" => Box::new(plane_sweep::PlaneSweep),
        "plain-grid" => Box::<grid::PlainGrid>::default(),
        "parry" => Box::<by_parry::Parry>::default(),
        "parry-kept" => Box::<by_parry::ParryKept>::default(),
        "rapier" => Box::new(by_rapier::Rapier),
        "rapier-kept" => Box::<by_rapier::RapierKept>::default(),
        "kiddo" => Box::new(by_kiddo::Kiddo),
        "rstar" => Box::new(by_rstar::Rstar),
        "zelll" => Box::new(by_zelll::Zelll),
        "dynamis" => Box::new(Dynamis),
        _ => {
            let names = NAMES.map(|(name, _)| name).join(", ");
            anyhow::bail!("there is no contender `{name}`; the contenders are {names}")
        }
    };
    Ok(vec![one])
}

/// Placeholder for the peer dynamis-broadphase, which has no code for the CPU.
struct Dynamis;

impl Contender for Dynamis {
    fn name(&self) -> &'static str {
        "dynamis"
    }

    fn refusal(&self, _world: World<'_>) -> Option<String> {
        Some(
            "dynamis-broadphase 0.7 consists of compute shaders: its whole API needs a GPU \
             context, and no part runs on a CPU"
                .into(),
        )
    }

    fn step(&mut self, _world: World<'_>) -> anyhow::Result<Found> {
        anyhow::bail!("dynamis has no CPU code to run")
    }
}
