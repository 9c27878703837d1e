//! The pairs that have passed the ball test and wait for the sweep.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies"
)]

use std::ops::Range;

use crate::cpu::balls::{Balls, Probe};
use crate::lanes::{LANES, four};

/// With many pairs, the ball test and the sweep run in long separate loops.
pub(super) const MAX_NEAR: usize = 4096;

const PATTERNS: [([u32; LANES], usize); 1 << LANES] = {
    let mut patterns = [([0; LANES], 0); 1 << LANES];
    let mut mask = 0;
    while mask < patterns.len() {
        let (lanes, count) = &mut patterns[mask];
        let mut lane = 0;
        while lane < LANES {
            if mask >> lane & 1 == 1 {
                lanes[*count] = lane as u32;
                *count += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    patterns
};

pub(super) struct NearPairs {
    pub(super) searchers: [u32; MAX_NEAR],
    pub(super) found: [u32; MAX_NEAR],
    pub(super) count: usize,
}

impl NearPairs {
    pub(super) fn new() -> Self {
        Self {
            searchers: [0; MAX_NEAR],
            found: [0; MAX_NEAR],
            count: 0,
        }
    }

    /// Pairs are written in blocks of four, so four more must fit.
    #[inline(always)]
    pub(super) fn has_room(&self, more: usize) -> bool {
        self.count + more + LANES <= MAX_NEAR
    }

    /// Lists the proxies in `ranges` whose ball meets `probe`, the ball or path of
    /// `searcher`. The list must have room for all.
    #[inline(always)]
    pub(super) fn collect(
        &mut self,
        searcher: u32,
        probe: &impl Probe,
        balls: &[Balls],
        ranges: &[Range<usize>],
    ) {
        let begin = self.count;
        // The compiler does not inline the closure of a fold.
        let mut end = begin;
        for range in ranges {
            end = self.add(end, probe, balls, range);
        }
        // Most searches find at most four, so four are always written, without a branch.
        let own = &mut self.searchers;
        if let Some(own) = own.get_mut(begin..begin + LANES) {
            own.fill(searcher);
        }
        if end > begin + LANES {
            own[begin + LANES..end].fill(searcher);
        }
        self.count = end;
    }

    /// Writes each proxy in `range` that meets `probe` to `found` from index `end` on.
    /// Returns the new end. For an empty range, one block is tested and not written, which
    /// saves a branch.
    #[inline(always)]
    fn add(
        &mut self,
        mut end: usize,
        probe: &impl Probe,
        balls: &[Balls],
        range: &Range<usize>,
    ) -> usize {
        let mut block = range.start / LANES;
        let mut there = usize::MAX << (range.start % LANES);
        let mut rest = range.end - block * LANES;
        while rest > LANES {
            end = self.add_block(end, probe, balls, block, there);
            there = usize::MAX;
            block += 1;
            rest -= LANES;
        }
        self.add_block(end, probe, balls, block, there & ((1 << rest) - 1))
    }

    #[inline(always)]
    fn add_block(
        &mut self,
        end: usize,
        probe: &impl Probe,
        balls: &[Balls],
        block: usize,
        there: usize,
    ) -> usize {
        let Some(balls) = balls.get(block) else {
            return end;
        };
        // Writes four pairs, of which the first `count` are valid, without branches that
        // would often be mispredicted.
        let (lanes, count) = &PATTERNS[probe.meets(balls) & there & (PATTERNS.len() - 1)];
        let first = (block * LANES) as u32;
        if let Some(found) = self.found.get_mut(end..end + LANES) {
            found.copy_from_slice(&four(*lanes, |lane| first + lane));
        }
        end + count
    }
}
