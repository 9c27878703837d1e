//! Runs all stages on the CPU, and owns the memory that is kept from step to step.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies and slots, and all other numbers are smaller"
)]

use super::bin::{Binned, bin};
use super::buckets::Buckets;
use super::clock::StageClock;
use super::images::{ImageList, NearImages, OpenSpace, PeriodicSpace, ProxySpace, cell};
use super::list::{list, list_with_images, sort_images};
use super::measure::{Sizes, SizesMemory, SpaceMemory, measure_sizes, measure_space};
use super::neighbors::Grids;
use super::pairs::{FoundPairs, PairCounts, PairSearch, find_pairs, tally};
use super::plan::{Plan, plan};
use super::scatter::scatter;
use super::sorted_proxies::SortedProxies;
use crate::exact::{ImageCollision, Listed, decide_reported};
use crate::lattice::ReducedLattice;
use crate::limits::Limits;
use crate::reuse::{ReusedVec, ScratchPool};
use crate::shared::size_class::SIZE_CLASSES;
use crate::shared::space::Space;
use crate::shared::tuning::CPU_MAX_SLOTS_PER_PROXY;
use crate::shared::units::{Scale, Units};
use crate::statistics::{StageTimes, StepOutcome};
use crate::step::CheckedStep;
use crate::threads;
use crate::{Collision, Error};

/// It keeps memory, but no results, from step to step.
#[derive(Default)]
pub(crate) struct Cpu {
    space: SpaceMemory,
    sizes: SizesMemory,
    level_of_class: ReusedVec<u8>,
    images: ImageList,
    stages: StageMemory,
    open: PairMemory<Collision>,
    periodic: PairMemory<ImageCollision>,
    sorted_images: Buckets<ImageCollision>,
}

#[derive(Debug, Default)]
struct StageMemory {
    binned: Buckets<Binned>,
    sorted: SortedProxies,
    ends: ScratchPool<u32>,
}

struct PairMemory<L: Listed> {
    found: FoundPairs<L>,
    decided: ReusedVec<L>,
}

impl<L: Listed> Default for PairMemory<L> {
    fn default() -> Self {
        Self {
            found: FoundPairs::default(),
            decided: ReusedVec::default(),
        }
    }
}

struct Planned<'a, S> {
    step: CheckedStep<'a>,
    limits: Limits,
    scale: &'a Scale,
    space: &'a Space,
    sizes: &'a Sizes<'a>,
    plan: &'a Plan<'a>,
    proxy_space: S,
    proxies: usize,
}

impl Cpu {
    /// Runs all stages. Fills `pairs` and, in a periodic domain, `images`. Reuses the
    /// memory of `times`.
    pub(crate) fn run(
        &mut self,
        step: CheckedStep<'_>,
        limits: Limits,
        pairs: &mut Vec<Collision>,
        images: &mut Vec<[i32; 3]>,
        times: StageTimes,
    ) -> Result<StepOutcome, Error> {
        let mut clock = StageClock::start(times);
        let (spheres, sets) = (step.spheres, step.sets);
        let extent = step.summary.extent().max(step.domain.extent());
        let scale = &Units::new(step.dt, extent).scale(step.dt);
        let lattice = ReducedLattice::new(&step.domain, scale)?;
        let space = &measure_space(spheres, scale, lattice.as_ref(), &mut self.space)?;
        let cell = cell(lattice.as_ref(), &space.frame, scale);
        let cell = cell.as_ref();
        let sizes = &measure_sizes(spheres, scale, space, cell, sets, &mut self.sizes)?;
        let proxies = match cell {
            None => spheres.len() + sizes.segments.len(),
            Some(cell) => {
                self.images.fill(&step, scale, cell, sizes.class_of)?;
                self.images.len()
            }
        };
        clock.lap("measure");
        let slots = (proxies * CPU_MAX_SLOTS_PER_PROXY).clamp(1024, 1 << 31);
        let level_of_class = &mut self.level_of_class;
        level_of_class.room(SIZE_CLASSES, "the size classes")?;
        let plan = &plan(space, sizes.classes, sets, slots as u32, level_of_class);
        clock.lap("plan");
        let planned = Planned {
            step,
            limits,
            scale,
            space,
            sizes,
            plan,
            proxy_space: OpenSpace,
            proxies,
        };
        let stages = &mut self.stages;
        // Even few spheres may have many segments, so their number decides whether
        // several threads are used.
        let counts = match cell {
            None => {
                images.clear();
                let memory = &mut self.open;
                let work = || {
                    let counts = planned.find(stages, memory, &mut clock)?;
                    let PairMemory { found, decided } = memory;
                    found.pairs.add(decided, |pair| pair.a)?;
                    list(&found.pairs, &stages.ends, pairs)?;
                    Ok(counts)
                };
                threads::run(proxies, work)?
            }
            Some(cell) => {
                let near = &NearImages::new(&step.domain, &cell.lattice);
                let planned = planned.in_space(PeriodicSpace {
                    cell,
                    domain: &step.domain,
                    images: &self.images,
                    near,
                });
                let (memory, sorted) = (&mut self.periodic, &mut self.sorted_images);
                let work = || {
                    let counts = planned.find(stages, memory, &mut clock)?;
                    let PairMemory { found, decided } = memory;
                    let first_set = sets.first_len(spheres.len());
                    sort_images(&[&found.images, decided], first_set, sorted)?;
                    list_with_images(&found.pairs, sorted, &stages.ends, pairs, images)?;
                    Ok(counts)
                };
                threads::run(proxies, work)?
            }
        };
        clock.lap("decide");
        let (levels, slots) = (plan.levels.len() as u32, plan.slots.into());
        Ok(StepOutcome {
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
        self.space.bytes()
            + self.sizes.bytes()
            + self.level_of_class.bytes()
            + self.images.bytes()
            + self.stages.bytes()
            + self.open.bytes()
            + self.periodic.bytes()
            + self.sorted_images.bytes()
    }
}

impl<L: Listed> PairMemory<L> {
    fn bytes(&self) -> usize {
        self.found.bytes() + self.decided.bytes()
    }
}

impl StageMemory {
    fn bytes(&self) -> usize {
        self.binned.bytes() + self.sorted.bytes() + self.ends.bytes()
    }
}

impl<'a, S> Planned<'a, S> {
    fn in_space<T>(self, proxy_space: T) -> Planned<'a, T> {
        let Self {
            step,
            limits,
            scale,
            space,
            sizes,
            plan,
            proxies,
            ..
        } = self;
        Planned {
            step,
            limits,
            scale,
            space,
            sizes,
            plan,
            proxy_space,
            proxies,
        }
    }
}

impl<S: ProxySpace> Planned<'_, S> {
    fn find(
        &self,
        memory: &mut StageMemory,
        found: &mut PairMemory<S::Listed>,
        clock: &mut StageClock,
    ) -> Result<PairCounts, Error> {
        let fullest = self.fill_grids(memory, clock)?;
        let search = self.search(&memory.sorted);
        // Mostly, this cheap bound is below the limit.
        if self.plan.max_candidates(&memory.sorted.starts, fullest) > self.limits.candidates {
            self.limits.allow_candidates(tally(&search))?;
        }
        let mut counts = find_pairs(&search, self.limits.pairs, &mut found.found)?;
        clock.lap("pairs");
        let shared = &mut found.found.shared;
        let decided = found.decided.empty();
        let count = shared.len();
        let decide = || decide_reported(&self.step, shared, decided);
        let of_shared = threads::run(count, decide)?;
        counts.grazing = counts.grazing.plus(of_shared);
        self.limits
            .allow_pairs(counts.pairs + decided.len() as u64)?;
        Ok(counts)
    }

    /// Returns the number of proxies in the fullest slot.
    fn fill_grids(&self, memory: &mut StageMemory, clock: &mut StageClock) -> Result<u32, Error> {
        let Self {
            scale, space, plan, ..
        } = self;
        let spheres = self.step.spheres;
        let proxy_space = self.proxy_space;
        let binned = &mut memory.binned;
        bin(spheres, scale, space, proxy_space, self.sizes, plan, binned)?;
        clock.lap("bin");
        let StageMemory { binned, sorted, .. } = memory;
        let slots = plan.slots as usize;
        let frame = &space.frame;
        let fullest = scatter(spheres, scale, frame, proxy_space, slots, binned, sorted)?;
        clock.lap("scatter");
        Ok(fullest)
    }

    fn search<'a>(&'a self, sorted: &'a SortedProxies) -> PairSearch<'a, S> {
        PairSearch {
            grids: Grids {
                levels: &self.plan.levels,
                searched: &self.plan.searched,
                starts: &sorted.starts,
                sets: self.step.sets,
            },
            space: self.proxy_space,
            frame: &self.space.frame,
            sorted,
            proxies: self.proxies,
            step: self.step,
            scale: self.scale,
            cut: self.sizes.cut,
            groups: self.step.summary.groups(),
        }
    }
}
