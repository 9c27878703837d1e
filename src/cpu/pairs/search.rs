//! What the earlier stages have made, as `pairs` and `tally` read it.

use std::ops::Range;

use crate::cpu::balls::Ball;
use crate::cpu::neighbors::{Grids, Searcher};
use crate::cpu::sorted_proxies::SortedProxies;
use crate::shared::segments::{Frame, SpherePath};
use crate::shared::sorted::SortedCell;
use crate::shared::tag::level_of;
use crate::shared::units::Scale;
use crate::step::CheckedStep;

/// A search for all pairs: the grids, and the proxies in them.
pub(crate) struct PairSearch<'a> {
    /// The grids.
    pub(crate) grids: Grids<'a>,
    /// The frame, from which cells are counted.
    pub(crate) frame: &'a Frame,
    /// The proxies in the grids.
    pub(crate) sorted: &'a SortedProxies,
    /// Number of proxies.
    pub(crate) proxies: usize,
    /// The step in the caller's units, as are the spheres of the sorted proxies.
    pub(crate) step: CheckedStep<'a>,
    /// Conversion into the units of the grids.
    pub(crate) scale: &'a Scale,
    /// Whether any sphere is cut into time segments.
    pub(crate) cut: bool,
    /// Whether groups may leave out a pair.
    pub(crate) groups: bool,
}

impl PairSearch<'_> {
    /// The proxy at a place among the sorted ones, as one that searches.
    #[inline(always)]
    pub(super) fn searcher(&self, index: usize, ball: &Ball) -> Searcher {
        Searcher {
            index,
            slot: self.sorted.slots[index],
            tag: self.sorted.tags[index],
            middle: ball.middle,
        }
    }

    /// The path of a proxy's sphere, if its level searches others.
    #[inline(always)]
    pub(super) fn path(&self, searcher: &Searcher) -> Option<SpherePath> {
        let searches = self.grids.searched[level_of(searcher.tag) as usize] != 0;
        let given = &self.sorted.spheres[searcher.index];
        searches.then(|| self.scale.path(given, self.frame))
    }

    /// The cell of the proxy at a place among the sorted ones.
    pub(super) fn cell(&self, index: usize) -> SortedCell {
        let tag = self.sorted.tags[index];
        let level = &self.grids.levels[level_of(tag) as usize];
        SortedCell {
            cell: level.cell_of(self.sorted.ball(index).middle),
            tag,
        }
    }

    /// Number of tasks.
    pub(super) fn tasks(&self) -> usize {
        self.proxies.div_ceil(self.task_size())
    }

    /// The proxies of a task, by their places among the sorted ones.
    pub(super) fn of_task(&self, task: usize) -> Range<usize> {
        let begin = task * self.task_size();
        begin..self.proxies.min(begin + self.task_size())
    }

    /// Proxies per task: their neighbours overlap, so they are best done together.
    fn task_size(&self) -> usize {
        (self.proxies / 64).clamp(1024, 8192)
    }
}
