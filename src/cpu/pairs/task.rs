//! One task of the search for pairs, for a range of the sorted proxies.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies"
)]

use std::ops::Range;

use super::found::{PairCounts, Progress};
use super::near::{MAX_NEAR, NearPairs};
use super::search::PairSearch;
use super::sweeper::{Sweeper, TaskOutput};
use crate::Error;
use crate::cpu::balls::{BallProbe, PathProbe, Probe};
use crate::cpu::images::ProxySpace;
use crate::cpu::neighbors::CellRow;
use crate::lanes::LANES;
use crate::shared::segments::Cut;

pub(super) struct PairTask<'a, S: ProxySpace> {
    search: &'a PairSearch<'a, S>,
    near: NearPairs,
    sweeper: Sweeper<'a, S>,
    candidates: u64,
}

impl<'a, S: ProxySpace> PairTask<'a, S> {
    pub(super) fn new(
        search: &'a PairSearch<'a, S>,
        progress: &'a Progress,
        output: TaskOutput<'a, S>,
    ) -> Self {
        Self {
            search,
            near: NearPairs::new(),
            sweeper: Sweeper::new(search, progress, output),
            candidates: 0,
        }
    }

    #[inline(always)]
    pub(super) fn search_around(&mut self, index: usize) {
        let PairSearch { grids, sorted, .. } = self.search;
        let ball = sorted.ball(index);
        let searcher = self.search.searcher(index, &ball);
        let probe = BallProbe::new(&ball);
        match grids.own_ranges(&searcher) {
            Some(ranges) => self.collect(index as u32, &probe, &ranges),
            None => grids.search_own_rows(&searcher, |range, row| {
                self.collect_from_row(index as u32, &probe, &[range], row);
            }),
        }
        if let Some(path) = self.search.path(&searcher) {
            let probe = PathProbe::new(&path, ball.middle, Cut::of_tag(searcher.tag).half());
            grids.search_others(&searcher, &path, &mut |ranges, row| match row {
                None => self.collect(index as u32, &probe, ranges),
                Some(row) => self.collect_from_row(index as u32, &probe, ranges, row),
            });
        }
    }

    /// Returns the numbers of candidates and of grazing pairs.
    pub(super) fn finish(mut self) -> Result<PairCounts, Error> {
        self.sweeper.sweep(&mut self.near);
        Ok(PairCounts {
            candidates: self.candidates,
            grazing: self.sweeper.finish()?,
            ..PairCounts::default()
        })
    }

    #[inline(always)]
    fn collect(&mut self, index: u32, probe: &impl Probe, ranges: &[Range<usize>]) {
        let all: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        if !self.near.has_room(all) {
            self.collect_in_pieces(index, probe, ranges);
            return;
        }
        self.candidates += all as u64;
        let balls = &self.search.sorted.balls;
        self.near.collect(index, probe, balls, ranges);
    }

    /// The list may not have room for all neighbours. It is emptied before each piece.
    #[cold]
    #[inline(never)]
    fn collect_in_pieces(&mut self, index: u32, probe: &impl Probe, ranges: &[Range<usize>]) {
        const PIECE: usize = MAX_NEAR / 2;
        for range in ranges {
            for first in range.clone().step_by(PIECE) {
                self.sweeper.sweep(&mut self.near);
                let piece = first..range.end.min(first + PIECE);
                self.collect(index, probe, std::slice::from_ref(&piece));
            }
        }
    }

    /// Collects only the neighbours in the cells `row`, from ranges that also hold proxies
    /// of other cells.
    #[cold]
    fn collect_from_row(
        &mut self,
        index: u32,
        probe: &impl Probe,
        ranges: &[Range<usize>],
        row: CellRow,
    ) {
        for other in ranges.iter().cloned().flatten() {
            self.candidates += 1;
            let balls = &self.search.sorted.balls[other / LANES];
            let meets = probe.meets(balls) >> (other % LANES) & 1 == 1;
            if meets && row.holds(&self.search.cell(other)) {
                self.collect(index, probe, std::slice::from_ref(&(other..other + 1)));
                // `collect` counts it again.
                self.candidates -= 1;
            }
        }
    }
}
