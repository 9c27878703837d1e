//! The benchmarked methods that find touching pairs of spheres.

mod brute;
mod by_carom;
mod by_kiddo;
mod by_parry;
mod by_rapier;
mod by_rstar;
mod by_zelll;
mod contender;
mod grid;
mod plane_sweep;

pub(crate) use contender::Contender;

use crate::step::{Found, World};

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
