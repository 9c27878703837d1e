//! Pairs whose balls meet, collected for the swept test.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies"
)]

use std::ops::Range;

use crate::cpu::balls::{Balls, Probe};
use crate::lanes::{LANES, four};

/// Pairs that are collected before the next test, so that neither test has to wait for the
/// other: so many at most.
pub(super) const MAX_NEAR: usize = 4096;

/// For each mask of [`LANES`] bits: the indices of its set bits, and how many there are.
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

/// Pairs whose balls meet, by their places among the sorted proxies.
pub(super) struct NearPairs {
    /// Of each pair the proxy that searches.
    pub(super) searchers: [u32; MAX_NEAR],
    /// Of each pair the proxy that was found.
    pub(super) found: [u32; MAX_NEAR],
    /// Number of pairs.
    pub(super) count: usize,
}

impl NearPairs {
    /// No pairs.
    pub(super) fn new() -> Self {
        Self {
            searchers: [0; MAX_NEAR],
            found: [0; MAX_NEAR],
            count: 0,
        }
    }

    /// Whether there is room for so many more pairs.
    #[inline(always)]
    pub(super) fn has_room(&self, more: usize) -> bool {
        self.count + more + LANES <= MAX_NEAR
    }

    /// Collects the proxies of some ranges whose balls the searcher's probe meets. There has
    /// to be room for all.
    #[inline(always)]
    pub(super) fn collect(
        &mut self,
        searcher: u32,
        probe: &impl Probe,
        balls: &[Balls],
        ranges: &[Range<usize>],
    ) {
        let begin = self.count;
        let end = ranges
            .iter()
            .fold(begin, |end, range| self.add(end, probe, balls, range));
        // Most searchers find no more than LANES, so that many are filled without asking.
        let own = &mut self.searchers;
        if let Some(own) = own.get_mut(begin..begin + LANES) {
            own.fill(searcher);
        }
        if end > begin + LANES {
            own[begin + LANES..end].fill(searcher);
        }
        self.count = end;
    }

    /// Adds those of a range whose balls the probe meets to the ones found, up to `end`, and
    /// returns the new end. Most ranges are so short that one block will do, even if in vain:
    /// nothing is asked but whether that is so.
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

    /// The same for the proxies of a block that are in the range, one bit each.
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
        // Adds all without a branch for each, which would be guessed wrong often.
        let (lanes, count) = &PATTERNS[probe.meets(balls) & there & (PATTERNS.len() - 1)];
        let first = (block * LANES) as u32;
        if let Some(found) = self.found.get_mut(end..end + LANES) {
            found.copy_from_slice(&four(*lanes, |lane| first + lane));
        }
        end + count
    }
}
