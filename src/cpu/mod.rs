//! The CPU backend: the same stages as the shaders, one file a stage, on several
//! threads. It is what a machine without a GPU uses, and what the GPU is checked
//! against.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies and slots, and everything else is less"
)]

mod bin;
mod buckets;
pub(crate) mod changes;
pub(crate) mod contacts;
pub(crate) mod earliest;
mod list;
pub(crate) mod measure;
mod pairs;
pub(crate) mod plan;
mod scan;
mod scatter;
pub(crate) mod sort;

use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, Instant};

use rayon::ThreadPool;

use self::bin::Binned;
use self::buckets::Buckets;
use self::scatter::Sorted;
use crate::exact::{Grazing, Reported, decide};
use crate::grid::Grid;
use crate::memory::{Kept, Scratch};
use crate::sphere::Facts;
use crate::units::Units;
use crate::{Collision, Error, Sphere};

/// Proxies that are worked on in one go: what is made of them stays in the cache.
pub(crate) const CHUNK: usize = 1 << 14;

/// What a step came to, on either backend.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Entries in the grids.
    pub(crate) proxies: u64,
    /// Grids in use, and slots of their table.
    pub(crate) levels: u32,
    pub(crate) slots: u64,
    /// Pairs that were tested.
    pub(crate) candidates: u64,
    /// Those that the test left open.
    pub(crate) grazing: Grazing,
    /// Bytes of working memory.
    pub(crate) memory: u64,
    pub(crate) stages: Stages,
}

/// The time of each stage.
pub(crate) type Stages = Vec<(&'static str, Duration)>;

/// What a user allows at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Pairs to test.
    pub(crate) candidates: u64,
    /// Pairs that touch.
    pub(crate) pairs: u64,
}

impl Limits {
    /// Refuses more pairs that touch than there may be.
    pub(crate) fn allow_pairs(self, needed: u64) -> Result<(), Error> {
        let limit = self.pairs;
        if needed > limit {
            return Err(Error::TooManyPairs { needed, limit });
        }
        Ok(())
    }
}

/// Slots a proxy at most; what the plan does not use takes no memory. In a box of cells
/// as narrow as they get there are 4 for each sphere, and in a world of clusters more.
const SLOTS_PER_PROXY: usize = 24;

/// More proxies than this are worth neither the memory nor the time: the
/// segments are made longer instead.
pub(crate) fn most_proxies(spheres: usize) -> u64 {
    let spheres = spheres as u64;
    // To look for others costs a proxy as much as 20 tests or more, and the spheres
    // themselves have no more pairs than N²/2.
    let worth = spheres + spheres.saturating_mul(spheres) / 32;
    // But a fuzzer's, which are few, are to be cut all the same.
    let worth = if cfg!(carom_fuzzing) { u64::MAX } else { worth };
    (spheres * 16 + (1 << 18)).min(worth).min(1 << 31)
}

/// Where the spheres of a pair stand among all, those of the second set after those
/// of the first; `None` if one is not there.
fn rows(pair: &Collision, spheres: usize, split: usize) -> Option<[usize; 2]> {
    let rows = [pair.a as usize, (pair.b as usize).checked_add(split)?];
    rows.iter().all(|&row| row < spheres).then_some(rows)
}

/// The CPU backend, and what it keeps from step to step: nothing that the next one
/// needs but the memory.
#[derive(Debug, Default)]
pub(crate) struct Cpu {
    measured: measure::Memory,
    /// For `plan`.
    level_of_bin: Kept<u8>,
    binned: Buckets<Binned>,
    sorted: Sorted,
    found: pairs::Found,
    /// Pairs that were decided at the end.
    decided: Kept<Collision>,
    /// For `list`.
    ends: Scratch<u32>,
}

/// A step as the caller has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<'a> {
    pub(crate) spheres: &'a [Sphere],
    /// Where the second of two sets begins, 0 if there is one set.
    pub(crate) split: usize,
    pub(crate) dt: f32,
}

impl Step<'_> {
    /// Decides pairs that were reported, and fills `pairs` with those that touch.
    pub(crate) fn decide(
        self,
        reported: &mut Vec<Reported>,
        pairs: &mut Vec<Collision>,
    ) -> Result<Grazing, Error> {
        let sphere = |index: u32| self.spheres.get(index as usize).copied();
        let two = |a, b| Some([sphere(a)?, sphere(b)?]);
        decide(two, self.split, self.dt, reported, pairs)
    }
}

/// On which threads to work: those of a pool, or rayon's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads<'a>(pub(crate) Option<&'a ThreadPool>);

impl Threads<'_> {
    /// So few items are done before another thread is awake.
    const FEW: usize = 1024;

    /// Works on so many items there, or if they are few on the caller's.
    pub(crate) fn run<R: Send>(
        self,
        items: usize,
        work: impl FnOnce() -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        match self.0 {
            _ if items <= Self::FEW => work(),
            Some(pool) => run_in(pool, work),
            // What `install` does: goes over to a thread of the pool once, and not in every
            // loop.
            None => rayon::scope(|_| work()),
        }
    }
}

/// Works in a pool, and waits for it.
fn run_in<R: Send>(
    pool: &ThreadPool,
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    if rayon::current_thread_index().is_none() || pool.current_thread_index().is_some() {
        return pool.install(work);
    }
    // The caller is a thread of another pool. `install` would let it run that pool's tasks while
    // it waits, which may be steps as well: one within the other without end, on one stack, or
    // of a detector that is locked for this one. So a thread waits that is of no pool.
    thread::scope(|scope| {
        let waiting = thread::Builder::new().spawn_scoped(scope, || pool.install(work));
        let waiting = waiting.map_err(|error| Error::Threads(error.to_string()))?;
        waiting.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

impl Cpu {
    /// Runs all stages, and fills `pairs`. What is in `stages` is of no account.
    pub(crate) fn run(
        &mut self,
        step: Step<'_>,
        facts: Facts,
        limits: Limits,
        threads: Threads<'_>,
        pairs: &mut Vec<Collision>,
        mut stages: Stages,
    ) -> Result<Outcome, Error> {
        let Step { spheres, split, dt } = step;
        stages.clear();
        let mut clock = Instant::now();
        let mut lap = |name| {
            let now = Instant::now();
            stages.push((name, now - clock));
            clock = now;
        };

        let scale = &Units::new(dt, facts.extent()).scale(dt);
        let space = measure::spacing(spheres, scale, &mut self.measured);
        let most = most_proxies(spheres.len());
        let sizes = measure::sizes(spheres, scale, &space, split, most, &mut self.measured)?;
        lap("measure");
        let proxies = spheres.len() + sizes.segments.len();
        let slots = (proxies * SLOTS_PER_PROXY).clamp(1024, 1 << 31);
        let plan = plan::plan(
            &space,
            sizes.bins,
            split > 0,
            slots as u32,
            &mut self.level_of_bin,
        );
        lap("plan");
        // Few spheres may be cut into many segments.
        let counts = threads.run(proxies, || {
            bin::bin(spheres, scale, &space, &sizes, &plan, &mut self.binned)?;
            lap("bin");
            let slots = plan.slots as usize;
            let fullest =
                self.sorted
                    .fill(spheres, scale, &space.frame, slots, proxies, &self.binned)?;
            lap("scatter");
            let world = pairs::World {
                grid: Grid {
                    levels: &plan.levels,
                    looks: &plan.looks,
                    starts: &self.sorted.starts,
                    between: split > 0,
                },
                frame: &space.frame,
                sorted: &self.sorted,
                proxies,
                given: step,
                scale,
                cut: !sizes.segments.is_empty(),
                groups: facts.groups(),
            };
            // Most worlds are so far from the limit that they need not be counted first.
            if plan.most_candidates(fullest) > limits.candidates {
                let candidates = pairs::tally(&world);
                if candidates > limits.candidates {
                    return Err(Error::TooManyCandidates {
                        needed: candidates,
                        limit: limits.candidates,
                    });
                }
                lap("tally");
            }
            let mut counts = pairs::pairs(&world, limits.pairs, &mut self.found)?;
            lap("pairs");
            let pairs::Found {
                pairs: certain,
                shared,
                ..
            } = &mut self.found;
            let decided = self.decided.empty();
            let of_shared = threads.run(shared.len(), || step.decide(shared, decided))?;
            counts.grazing = counts.grazing.plus(of_shared);
            limits.allow_pairs(counts.pairs + decided.len() as u64)?;
            certain.add(decided, |pair| pair.a)?;
            list::list(certain, &self.ends, pairs)?;
            lap("decide");
            Ok(counts)
        })?;
        let (levels, slots) = (plan.levels.len() as u32, plan.slots.into());
        let memory = self.measured.bytes()
            + self.level_of_bin.bytes()
            + self.binned.bytes()
            + self.sorted.bytes()
            + self.found.bytes()
            + self.decided.bytes()
            + self.ends.bytes();
        Ok(Outcome {
            proxies: proxies as u64,
            levels,
            slots,
            candidates: counts.candidates,
            grazing: counts.grazing,
            memory: memory as u64,
            stages,
        })
    }
}
