//! `pairs`: the swept test of every proxy against those in reach of it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use crate::error::allocate;
use crate::exact::{GRAZING, Reported};
use crate::grid::{Grid, SortedCell, SortedProxy};
use crate::sweep::{Ownership, Sweep};
use crate::{Error, Sphere};

/// What the earlier stages have made.
pub(crate) struct World<'a> {
    /// The spheres, for their groups.
    pub(crate) spheres: &'a [Sphere],
    /// The grids.
    pub(crate) grid: Grid<'a>,
    /// The sorted proxies.
    pub(crate) sorted: &'a [SortedProxy],
    /// Their cells.
    pub(crate) cells: &'a [SortedCell],
}

/// Proxies a task: their neighbours overlap, so they are best done together.
const TASK: usize = 2048;

/// How many pairs there are to test.
pub(crate) fn tally(world: &World<'_>) -> u64 {
    let proxies = world
        .sorted
        .par_iter()
        .zip(world.cells)
        .enumerate()
        .with_min_len(TASK);
    proxies
        .map(|(index, (proxy, own))| {
            let mut candidates = 0;
            world.grid.for_each_range(index, proxy, own, |range, _| {
                candidates += range.len() as u64;
            });
            candidates
        })
        .sum()
}

/// Tests them, and reports those that touch or may, if they are no more than
/// `most`; and how many were tested.
pub(crate) fn pairs(world: &World<'_>, most: u64) -> Result<(Vec<Reported>, u64), Error> {
    // Goes on past the limit, so that an error can tell what was needed.
    let [count, candidates] = [const { AtomicU64::new(0) }; 2];
    let tasks = (0..world.sorted.len().div_ceil(TASK))
        .into_par_iter()
        .map(|task| {
            let mut found = Vec::new();
            let mut tested = 0;
            let end = world.sorted.len().min((task + 1) * TASK);
            for index in task * TASK..end {
                let before = found.len();
                let mut dropped = 0;
                let (proxy, own) = (&world.sorted[index], &world.cells[index]);
                let room = most.saturating_sub(count.load(Relaxed)) as usize;
                world
                    .grid
                    .for_each_range(index, proxy, own, |range, asked| {
                        tested += range.len() as u64;
                        for other in range {
                            let sweep = Sweep::new(proxy, &world.sorted[other], world.grid.dt);
                            if sweep.may_hit()
                                && asked.holds(&world.cells[other])
                                && let Some(pair) = report(world, sweep, index, other)
                            {
                                if found.len() - before < room {
                                    found.push(pair);
                                } else {
                                    dropped += 1;
                                }
                            }
                        }
                    });
                count.fetch_add((found.len() - before) as u64 + dropped, Relaxed);
            }
            candidates.fetch_add(tested, Relaxed);
            found
        })
        .collect::<Vec<Vec<Reported>>>();
    let count = count.into_inner();
    if count > most {
        return Err(Error::TooManyPairs {
            needed: count,
            limit: most,
        });
    }
    let mut reported = allocate(tasks.iter().map(Vec::len).sum(), "the pairs found")?;
    tasks.into_iter().for_each(|task| reported.extend(task));
    Ok((reported, candidates.into_inner()))
}

/// The pair of two proxies that may touch, if it is one to report, and theirs.
fn report(world: &World<'_>, sweep: Sweep, index: usize, other: usize) -> Option<Reported> {
    let (i, j) = (&world.sorted[index], &world.sorted[other]);
    let (a, b) = (i.sphere.min(j.sphere), i.sphere.max(j.sphere));
    if a == b || world.spheres[a as usize].ignores(&world.spheres[b as usize]) {
        return None;
    }
    let grazing = match sweep.ownership([index, other].map(|k| world.cells[k].tag), world.grid.dt) {
        Ownership::Other => return None,
        Ownership::Shared => true,
        Ownership::Own => sweep.is_grazing(),
    };
    Some(Reported {
        a,
        b: b | if grazing { GRAZING } else { 0 },
    })
}
