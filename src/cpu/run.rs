//! Runs all stages on the CPU, and owns the memory that is kept between steps.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies and slots, and all other numbers are smaller"
)]

use super::bin::{Binned, bin};
use super::buckets::Buckets;
use super::clock::StageClock;
use super::list::list;
use super::measure::{Sizes, SizesMemory, SpaceMemory, measure_sizes, measure_space};
use super::neighbors::Grids;
use super::pairs::{FoundPairs, PairCounts, PairSearch, find_pairs, tally};
use super::plan::{Plan, plan};
use super::scatter::scatter;
use super::sorted_proxies::SortedProxies;
use crate::exact::decide_reported;
use crate::limits::{Limits, most_proxies};
use crate::outcome::{Outcome, StageTimes};
use crate::reuse::{ReusedVec, ScratchPool};
use crate::shared::space::Space;
use crate::shared::tuning::CPU_MAX_SLOTS_PER_PROXY;
use crate::shared::units::{Scale, Units};
use crate::step::CheckedStep;
use crate::threads::Threads;
use crate::{Collision, Error};

/// The CPU backend. It keeps memory from step to step, but no results.
#[derive(Debug, Default)]
pub(crate) struct Cpu {
    space: SpaceMemory,
    sizes: SizesMemory,
    level_of_class: ReusedVec<u8>,
    stages: StageMemory,
}

#[derive(Debug, Default)]
struct StageMemory {
    binned: Buckets<Binned>,
    sorted: SortedProxies,
    found: FoundPairs,
    decided: ReusedVec<Collision>,
    ends: ScratchPool<u32>,
}

struct Planned<'a> {
    step: CheckedStep<'a>,
    limits: Limits,
    threads: Threads<'a>,
    scale: &'a Scale,
    space: &'a Space,
    sizes: &'a Sizes<'a>,
    plan: &'a Plan<'a>,
    proxies: usize,
}

impl Cpu {
    pub(crate) fn run(
        &mut self,
        step: CheckedStep<'_>,
        limits: Limits,
        threads: Threads<'_>,
        pairs: &mut Vec<Collision>,
        times: StageTimes,
    ) -> Result<Outcome, Error> {
        let mut clock = StageClock::start(times);
        let (spheres, sets) = (step.spheres, step.sets);
        let scale = &Units::new(step.dt, step.summary.extent()).scale(step.dt);
        let space = &measure_space(spheres, scale, &mut self.space);
        let most = most_proxies(spheres.len());
        let sizes = &measure_sizes(spheres, scale, space, sets, most, &mut self.sizes)?;
        clock.lap("measure");
        let proxies = spheres.len() + sizes.segments.len();
        let slots = (proxies * CPU_MAX_SLOTS_PER_PROXY).clamp(1024, 1 << 31);
        let level_of_class = &mut self.level_of_class;
        let plan = &plan(space, sizes.classes, sets, slots as u32, level_of_class);
        clock.lap("plan");
        let planned = Planned {
            step,
            limits,
            threads,
            scale,
            space,
            sizes,
            plan,
            proxies,
        };
        // Few spheres may be cut into many time segments. So the number of proxies, not of spheres,
        // determines whether the remaining stages use several threads.
        let stages = &mut self.stages;
        let counts = threads.run(proxies, || planned.run(stages, pairs, &mut clock))?;
        let (levels, slots) = (plan.levels.len() as u32, plan.slots.into());
        Ok(Outcome {
            proxies: proxies as u64,
            levels,
            slots,
            candidates: counts.candidates,
            grazing: counts.grazing,
            memory: self.bytes() as u64,
            stages: clock.finish(),
        })
    }

    fn bytes(&self) -> usize {
        self.space.bytes() + self.sizes.bytes() + self.level_of_class.bytes() + self.stages.bytes()
    }
}

impl StageMemory {
    fn bytes(&self) -> usize {
        self.binned.bytes()
            + self.sorted.bytes()
            + self.found.bytes()
            + self.decided.bytes()
            + self.ends.bytes()
    }
}

impl Planned<'_> {
    fn run(
        &self,
        memory: &mut StageMemory,
        pairs: &mut Vec<Collision>,
        clock: &mut StageClock,
    ) -> Result<PairCounts, Error> {
        let fullest = self.fill_grids(memory, clock)?;
        let search = self.search(&memory.sorted);
        // Counting the candidate pairs is usually not needed, because a cheap upper bound of their
        // number is below the limit.
        if self.plan.max_candidates(fullest) > self.limits.candidates {
            self.limits.allow_candidates(tally(&search))?;
            clock.lap("tally");
        }
        let mut counts = find_pairs(&search, self.limits.pairs, &mut memory.found)?;
        clock.lap("pairs");
        let FoundPairs {
            pairs: certain,
            shared,
            ..
        } = &mut memory.found;
        let decided = memory.decided.empty();
        let count = shared.len();
        let decide = || decide_reported(&self.step, shared, decided);
        let of_shared = self.threads.run(count, decide)?;
        counts.grazing = counts.grazing.plus(of_shared);
        self.limits
            .allow_pairs(counts.pairs + decided.len() as u64)?;
        certain.add(decided, |pair| pair.a)?;
        list(certain, &memory.ends, pairs)?;
        clock.lap("decide");
        Ok(counts)
    }

    /// Sorts all proxies (spheres and time segments) by grid cell. Returns the largest number of
    /// proxies in one table entry.
    fn fill_grids(&self, memory: &mut StageMemory, clock: &mut StageClock) -> Result<u32, Error> {
        let Self {
            scale, space, plan, ..
        } = self;
        let spheres = self.step.spheres;
        bin(spheres, scale, space, self.sizes, plan, &mut memory.binned)?;
        clock.lap("bin");
        let StageMemory { binned, sorted, .. } = memory;
        let slots = plan.slots as usize;
        let proxies = self.proxies;
        let fullest = scatter(spheres, scale, &space.frame, slots, proxies, binned, sorted)?;
        clock.lap("scatter");
        Ok(fullest)
    }

    fn search<'a>(&'a self, sorted: &'a SortedProxies) -> PairSearch<'a> {
        PairSearch {
            grids: Grids {
                levels: &self.plan.levels,
                searched: &self.plan.searched,
                starts: &sorted.starts,
                sets: self.step.sets,
            },
            frame: &self.space.frame,
            sorted,
            proxies: self.proxies,
            step: self.step,
            scale: self.scale,
            cut: !self.sizes.segments.is_empty(),
            groups: self.step.summary.groups(),
        }
    }
}
