//! The input of the search for pairs: the results of the earlier stages.

use std::ops::Range;

use crate::cpu::balls::Ball;
use crate::cpu::images::ProxySpace;
use crate::cpu::neighbors::{Grids, Searcher};
use crate::cpu::sorted_proxies::SortedProxies;
use crate::shared::segments::{Frame, SpherePath};
use crate::shared::sorted::SortedCell;
use crate::shared::tag::level_of;
use crate::shared::units::Scale;
use crate::step::CheckedStep;

pub(crate) struct PairSearch<'a, S> {
    pub(crate) grids: Grids<'a>,
    pub(crate) space: S,
    pub(crate) frame: &'a Frame,
    pub(crate) sorted: &'a SortedProxies,
    pub(crate) proxies: usize,
    pub(crate) step: CheckedStep<'a>,
    pub(crate) scale: &'a Scale,
    pub(crate) cut: bool,
    pub(crate) groups: bool,
}

impl<S: ProxySpace> PairSearch<'_, S> {
    #[inline(always)]
    pub(super) fn searcher(&self, index: usize, ball: &Ball) -> Searcher {
        Searcher {
            index,
            slot: self.sorted.slots[index],
            tag: self.sorted.tags[index],
            middle: ball.middle,
        }
    }

    #[inline(always)]
    pub(super) fn path(&self, searcher: &Searcher) -> Option<SpherePath> {
        let searches = self.grids.searched[level_of(searcher.tag) as usize] != 0;
        let given = &self.sorted.spheres[searcher.index];
        searches.then(|| self.space.path(self.scale, self.frame, given, given.word))
    }

    pub(super) fn cell(&self, index: usize) -> SortedCell {
        let tag = self.sorted.tags[index];
        let level = &self.grids.levels[level_of(tag) as usize];
        SortedCell {
            cell: level.cell_of(self.sorted.ball(index).middle),
            tag,
        }
    }

    pub(super) fn tasks(&self) -> usize {
        self.proxies.div_ceil(self.task_size())
    }

    pub(super) fn of_task(&self, task: usize) -> Range<usize> {
        let begin = task * self.task_size();
        begin..self.proxies.min(begin + self.task_size())
    }

    /// Proxies near each other have many neighbours in common, which stay in the cache.
    fn task_size(&self) -> usize {
        (self.proxies / 64).clamp(1024, 8192)
    }
}
