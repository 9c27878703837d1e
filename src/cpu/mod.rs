//! The CPU backend: the same stages as the shaders, one file a stage, on all
//! cores. It is what a machine without a GPU uses, and what the GPU is checked
//! against.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies and slots, and everything else is less"
)]

mod bin;
pub(crate) mod changes;
pub(crate) mod contacts;
pub(crate) mod earliest;
pub(crate) mod measure;
mod pairs;
pub(crate) mod plan;
mod scan;
mod scatter;
pub(crate) mod sort;

use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::exact::Reported;
use crate::grid::{Grid, Level};
use crate::{Collision, Error, Sphere};

/// What a step came to, on either backend.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The pairs that touch or graze.
    pub(crate) reported: Vec<Reported>,
    /// Entries in the grids.
    pub(crate) proxies: u64,
    /// Grids in use.
    pub(crate) levels: u32,
    /// Pairs that were tested.
    pub(crate) candidates: u64,
    /// Time of each stage.
    pub(crate) stages: Vec<(&'static str, Duration)>,
}

/// What a user allows at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Pairs to test.
    pub(crate) candidates: u64,
    /// Pairs that touch.
    pub(crate) pairs: u64,
}

/// Slots a proxy at most; what the plan does not use takes no memory. In a box
/// of cells half the spacing wide there are 8 cells for each sphere, and in a
/// world of clusters some more.
const SLOTS_PER_PROXY: usize = 16;

/// More proxies than this are worth neither the memory nor the time: the
/// segments are made longer instead.
pub(crate) fn most_proxies(spheres: usize) -> u64 {
    (spheres as u64 * 16 + (1 << 18)).min(1 << 31)
}

/// More candidates than so many proxies can have, if no slot holds more than
/// `fullest`: each looks into half its neighbourhood, and at most 4 cells along
/// each axis in all time slabs of the coarser levels.
fn most_candidates(levels: &[Level], proxies: usize, fullest: u32) -> u64 {
    let coarser = levels.iter().skip(1);
    let cells: u64 = 14 + coarser.map(|level| 64 << level.time_power).sum::<u64>();
    (proxies as u64)
        .saturating_mul(cells)
        .saturating_mul(fullest.into())
}

/// Where the spheres of a pair stand among all, those of the second set after those
/// of the first; `None` if one is not there.
fn rows(pair: &Collision, spheres: usize, split: usize) -> Option<[usize; 2]> {
    let rows = [pair.a as usize, (pair.b as usize).checked_add(split)?];
    rows.iter().all(|&row| row < spheres).then_some(rows)
}

/// Runs all stages. `split` is where the second of two sets begins, 0 if there
/// is one set.
pub(crate) fn run(
    spheres: &[Sphere],
    split: usize,
    dt: f32,
    limits: Limits,
) -> Result<Outcome, Error> {
    let mut stages = Vec::new();
    let mut clock = Instant::now();
    let mut lap = |name| {
        let now = Instant::now();
        stages.push((name, now - clock));
        clock = now;
    };

    let space = measure::spacing(spheres, dt);
    let sizes = measure::sizes(spheres, dt, &space, split, most_proxies(spheres.len()))?;
    lap("measure");
    let proxies = spheres.len() + sizes.segments.len();
    let slots = (proxies * SLOTS_PER_PROXY).clamp(1024, 1 << 31);
    let plan = plan::plan(&space, &sizes.bins, split > 0, slots as u32);
    lap("plan");
    let (binned, mut table) = bin::bin(spheres, dt, &space, &sizes, &plan)?;
    lap("bin");
    let fullest = table.par_iter().copied().max().unwrap_or(0);
    scan::scan(&mut table);
    lap("scan");
    let (sorted, cells) = scatter::scatter(spheres, &sizes.segments, &binned, &table)?;
    drop(binned);
    lap("scatter");
    let grid = Grid {
        levels: &plan.levels,
        starts: &table,
        frame: &space.frame,
        dt,
        between: split > 0,
    };
    let world = pairs::World {
        spheres,
        grid,
        sorted: &sorted,
        cells: &cells,
    };
    // Most worlds are so far from the limit that they need not be counted first.
    if most_candidates(&plan.levels, proxies, fullest) > limits.candidates {
        let candidates = pairs::tally(&world);
        if candidates > limits.candidates {
            return Err(Error::TooManyCandidates {
                needed: candidates,
                limit: limits.candidates,
            });
        }
        lap("tally");
    }
    let (reported, candidates) = pairs::pairs(&world, limits.pairs)?;
    lap("pairs");
    Ok(Outcome {
        reported,
        proxies: proxies as u64,
        levels: plan.levels.len() as u32,
        candidates,
        stages,
    })
}
