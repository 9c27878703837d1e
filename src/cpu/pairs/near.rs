//! Pairs that pass the ball test, collected for the swept test.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies"
)]

use std::ops::Range;

use crate::cpu::balls::{Balls, Probe};
use crate::lanes::{LANES, four};

/// Maximum number of pairs that are collected before they are swept. Collecting them keeps the two
/// tests apart, so that neither has to wait for the other.
pub(super) const MAX_NEAR: usize = 4096;

/// For each 4-bit mask: the indices of its set lanes, and how many there are.
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

/// Pairs of proxies that pass the ball test, by their indices among the sorted proxies.
pub(super) struct NearPairs {
    /// The searching proxy of each pair.
    pub(super) searchers: [u32; MAX_NEAR],
    /// The found proxy of each pair.
    pub(super) found: [u32; MAX_NEAR],
    /// Number of pairs.
    pub(super) count: usize,
}

impl NearPairs {
    /// Returns an empty collection.
    pub(super) fn new() -> Self {
        Self {
            searchers: [0; MAX_NEAR],
            found: [0; MAX_NEAR],
            count: 0,
        }
    }

    /// Whether there is room for `more` pairs. Writing in blocks may need up to [`LANES`] further
    /// places.
    #[inline(always)]
    pub(super) fn has_room(&self, more: usize) -> bool {
        self.count + more + LANES <= MAX_NEAR
    }

    /// Collects the proxies of some ranges whose balls meet the searcher's probe. There has to be
    /// room for all proxies of the ranges.
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
        // Most searchers find at most LANES proxies, so LANES entries are filled without a branch
        // on their number.
        let own = &mut self.searchers;
        if let Some(own) = own.get_mut(begin..begin + LANES) {
            own.fill(searcher);
        }
        if end > begin + LANES {
            own[begin + LANES..end].fill(searcher);
        }
        self.count = end;
    }

    /// Writes the proxies of a range whose balls meet the probe, from place `end` on. Returns the
    /// new end. Most ranges fit in one block. One block is tested even for an empty range, so that
    /// a short range takes a single branch.
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

    /// Does the work of `add` for one block. `there` is a bit mask of its proxies that are in the
    /// range.
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
        // Writes all lanes without a branch for each, which would often be mispredicted.
        let (lanes, count) = &PATTERNS[probe.meets(balls) & there & (PATTERNS.len() - 1)];
        let first = (block * LANES) as u32;
        if let Some(found) = self.found.get_mut(end..end + LANES) {
            found.copy_from_slice(&four(*lanes, |lane| first + lane));
        }
        end + count
    }
}
