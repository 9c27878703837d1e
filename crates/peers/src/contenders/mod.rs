//! The benchmarked methods that find touching pairs of spheres.

mod brute;
mod by_carom;
mod by_kiddo;
mod by_parry;
mod by_rapier;
mod by_rstar;
mod by_zelll;
mod grid;
mod plane_sweep;

use std::sync::Arc;

use rayon::ThreadPool;

use crate::step::{Found, World};

pub(crate) trait Contender: Send {
    fn name(&self) -> &'static str;

    fn threads(&self) -> usize {
        1
    }

    /// Returns the pool of threads in which the benchmarked method runs, or `None` if it runs on the main
    /// thread.
    fn pool(&self) -> Option<Arc<ThreadPool>> {
        None
    }

    /// Returns why the benchmarked method does not run on the given spheres, or `None` if the method runs.
    /// This call is not timed.
    fn refusal(&self, _world: World<'_>) -> Option<String> {
        None
    }

    /// Makes the data that a simulation would have kept from the previous time step, such as a tree. This
    /// call is not timed.
    fn prepare(&mut self, _world: World<'_>) -> anyhow::Result<()> {
        Ok(())
    }

    /// Finds all pairs of spheres that touch during the time step. Only this call is timed, including the
    /// conversion of the spheres to the method's own format and the sort of the list of pairs.
    fn step(&mut self, world: World<'_>) -> anyhow::Result<Found>;
}

/// Largest estimated number of candidate pairs with which a benchmarked method runs. More candidates would
/// take minutes.
const MOST_CANDIDATES: u64 = 1 << 33;

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

/// The library dynamis-broadphase, which is listed among the contenders but refuses every world,
/// because it runs only on GPUs.
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
