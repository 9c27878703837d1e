//! Those who run, one file each.

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

/// One way to find the pairs of a step.
pub(crate) trait Contender {
    /// Its name in tables and on the command line.
    fn name(&self) -> &'static str;

    /// Threads it runs on.
    fn threads(&self) -> usize {
        1
    }

    /// Why this world is not for it, if it is not. Not timed.
    fn refusal(&self, _world: World<'_>) -> Option<String> {
        None
    }

    /// Makes what a simulation would have from the step before. Not timed.
    fn prepare(&mut self, _world: World<'_>) -> anyhow::Result<()> {
        Ok(())
    }

    /// The step. This is what is timed, with all that it takes to bring the spheres into the
    /// contender's own form and the pairs into order.
    fn step(&mut self, world: World<'_>) -> anyhow::Result<Found>;
}

/// More candidates than this take minutes, and tell nothing that fewer would not.
const MOST_CANDIDATES: u64 = 1 << 33;

/// All names, in the order in which they run, and what each is.
pub(crate) const NAMES: [(&str, &str); 12] = [
    (
        "carom",
        "carom's CPU backend, once for each number of threads",
    ),
    (
        "brute-force",
        "every pair, by swept balls; up to 20 000 spheres",
    ),
    ("plane-sweep", "swept boxes sorted and swept along one axis"),
    (
        "plain-grid",
        "a dense grid of one level, by counting sort; the yardstick",
    ),
    (
        "parry",
        "parry3d's BVH over swept boxes, built anew each step",
    ),
    (
        "parry-kept",
        "the same, with the tree of the step before updated and refitted",
    ),
    ("rapier", "rapier3d's broad phase, filled anew each step"),
    (
        "rapier-kept",
        "the same, with the broad phase of the step before updated",
    ),
    (
        "kiddo",
        "kiddo's k-d tree of swept balls; each asks for smaller ones",
    ),
    (
        "rstar",
        "rstar's R*-tree over swept boxes, joined with itself",
    ),
    (
        "zelll",
        "zelll's cell lists of swept balls, cut off at the largest reach",
    ),
    (
        "dynamis",
        "dynamis-broadphase; not applicable, it runs on GPUs only",
    ),
];

/// The contenders of that name: one, but for carom on several numbers of threads.
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

/// Stands for a peer that there is nothing to run of.
struct Dynamis;

impl Contender for Dynamis {
    fn name(&self) -> &'static str {
        "dynamis"
    }

    fn refusal(&self, _world: World<'_>) -> Option<String> {
        Some(
            "dynamis-broadphase 0.7 is compute shaders: all it has takes a GPU's context, and \
             nothing of it runs on a CPU"
                .into(),
        )
    }

    fn step(&mut self, _world: World<'_>) -> anyhow::Result<Found> {
        anyhow::bail!("it has no CPU code to run")
    }
}
