//! The results of the earlier stages, as `pairs` and `tally` read them.

use std::ops::Range;

use crate::cpu::balls::Ball;
use crate::cpu::neighbors::{Grids, Searcher};
use crate::cpu::sorted_proxies::SortedProxies;
use crate::shared::segments::{Frame, SpherePath};
use crate::shared::sorted::SortedCell;
use crate::shared::tag::level_of;
use crate::shared::units::Scale;
use crate::step::CheckedStep;

/// A search for all pairs: the grids and the proxies in them.
pub(crate) struct PairSearch<'a> {
    /// The filled grids.
    pub(crate) grids: Grids<'a>,
    /// The frame from which cells are counted.
    pub(crate) frame: &'a Frame,
    /// The proxies in the grids.
    pub(crate) sorted: &'a SortedProxies,
    /// Number of proxies.
    pub(crate) proxies: usize,
    /// The step in the caller's units. The spheres of the sorted proxies are in these units, too.
    pub(crate) step: CheckedStep<'a>,
    /// The conversion into the units of the grids.
    pub(crate) scale: &'a Scale,
    /// Whether any sphere is cut into time segments.
    pub(crate) cut: bool,
    /// Whether collision groups may exclude a pair.
    pub(crate) groups: bool,
}

impl PairSearch<'_> {
    /// Returns the sorted proxy with this index as a searcher. `ball` is its ball.
    #[inline(always)]
    pub(super) fn searcher(&self, index: usize, ball: &Ball) -> Searcher {
        Searcher {
            index,
            slot: self.sorted.slots[index],
            tag: self.sorted.tags[index],
            middle: ball.middle,
        }
    }

    /// Returns the path of a proxy's sphere if the proxy's level searches others.
    #[inline(always)]
    pub(super) fn path(&self, searcher: &Searcher) -> Option<SpherePath> {
        let searches = self.grids.searched[level_of(searcher.tag) as usize] != 0;
        let given = &self.sorted.spheres[searcher.index];
        searches.then(|| self.scale.path(given, self.frame))
    }

    /// Returns the cell of the sorted proxy with this index.
    pub(super) fn cell(&self, index: usize) -> SortedCell {
        let tag = self.sorted.tags[index];
        let level = &self.grids.levels[level_of(tag) as usize];
        SortedCell {
            cell: level.cell_of(self.sorted.ball(index).middle),
            tag,
        }
    }

    /// Returns the number of tasks.
    pub(super) fn tasks(&self) -> usize {
        self.proxies.div_ceil(self.task_size())
    }

    /// Returns the indices of a task's proxies among the sorted proxies.
    pub(super) fn of_task(&self, task: usize) -> Range<usize> {
        let begin = task * self.task_size();
        begin..self.proxies.min(begin + self.task_size())
    }

    /// Returns the number of proxies per task. Consecutive proxies have common neighbours, so they
    /// are best searched by one task.
    fn task_size(&self) -> usize {
        (self.proxies / 64).clamp(1024, 8192)
    }
}
