//! All stages, one after the other, and the memory that they keep.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies and slots, and everything else is less"
)]

use std::time::Instant;

use super::bin::{self, Binned};
use super::buckets::Buckets;
use super::neighbors::Grid;
use super::scatter::SortedProxies;
use super::{list, measure, pairs, plan};
use crate::exact::decide_step;
use crate::limits::{Limits, most_proxies};
use crate::outcome::{Outcome, StageTimes};
use crate::reuse::{ReusedVec, ScratchPool};
use crate::shared::tuning::CPU_MAX_SLOTS_PER_PROXY;
use crate::shared::units::Units;
use crate::step::CheckedStep;
use crate::threads::Threads;
use crate::{Collision, Error};

/// The CPU backend, and what it keeps from step to step: nothing that the next one
/// needs but the memory.
#[derive(Debug, Default)]
pub(crate) struct Cpu {
    space: measure::SpaceMemory,
    sizes: measure::SizesMemory,
    level_of_class: ReusedVec<u8>,
    binned: Buckets<Binned>,
    sorted: SortedProxies,
    found: pairs::Found,
    /// Pairs that were decided at the end.
    decided: ReusedVec<Collision>,
    /// For `list`.
    ends: ScratchPool<u32>,
}

impl Cpu {
    /// Runs all stages, and fills `pairs`. What is in `stages` is of no account.
    pub(crate) fn run(
        &mut self,
        step: CheckedStep<'_>,
        limits: Limits,
        threads: Threads<'_>,
        pairs: &mut Vec<Collision>,
        mut stages: StageTimes,
    ) -> Result<Outcome, Error> {
        let CheckedStep {
            spheres,
            sets,
            dt,
            summary,
        } = step;
        stages.clear();
        let mut clock = Instant::now();
        let mut lap = |name| {
            let now = Instant::now();
            stages.push((name, now - clock));
            clock = now;
        };

        let scale = &Units::new(dt, summary.extent()).scale(dt);
        let space = measure::measure_space(spheres, scale, &mut self.space);
        let most = most_proxies(spheres.len());
        let sizes = measure::measure_sizes(spheres, scale, &space, sets, most, &mut self.sizes)?;
        lap("measure");
        let proxies = spheres.len() + sizes.segments.len();
        let slots = (proxies * CPU_MAX_SLOTS_PER_PROXY).clamp(1024, 1 << 31);
        let plan = plan::plan(
            &space,
            sizes.classes,
            sets,
            slots as u32,
            &mut self.level_of_class,
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
                    searched: &plan.searched,
                    starts: &self.sorted.starts,
                    sets,
                },
                frame: &space.frame,
                sorted: &self.sorted,
                proxies,
                given: step,
                scale,
                cut: !sizes.segments.is_empty(),
                groups: summary.groups(),
            };
            // Most worlds are so far from the limit that they need not be counted first.
            if plan.max_candidates(fullest) > limits.candidates {
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
            let of_shared = threads.run(shared.len(), || decide_step(&step, shared, decided))?;
            counts.grazing = counts.grazing.plus(of_shared);
            limits.allow_pairs(counts.pairs + decided.len() as u64)?;
            certain.add(decided, |pair| pair.a)?;
            list::list(certain, &self.ends, pairs)?;
            lap("decide");
            Ok(counts)
        })?;
        let (levels, slots) = (plan.levels.len() as u32, plan.slots.into());
        let memory = self.space.bytes()
            + self.sizes.bytes()
            + self.level_of_class.bytes()
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
