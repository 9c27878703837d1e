//! The swept test of the pairs that pass the ball test.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies"
)]

use super::found::Progress;
use super::near::NearPairs;
use super::search::PairSearch;
use crate::exact::{GRAZING, Grazing, Impact, ReportedPair, impact, sweep};
use crate::lanes::two;
use crate::memory::out_of_memory;
use crate::shared::ownership::{Ownership, ownership};
use crate::shared::tag::segment_power;
use crate::{Collision, Error};

/// Number of pairs whose found proxies are prefetched before the pairs are swept.
const PREFETCHED: usize = 64;

/// Sweeps pairs and lists those that touch.
pub(super) struct Sweeper<'a> {
    search: &'a PairSearch<'a>,
    /// Counts of the pairs and reports of all tasks so far.
    progress: &'a Progress,
    /// Pairs that touch.
    pairs: &'a mut Vec<Collision>,
    /// Reports of pairs that several time segments may report.
    shared: &'a mut Vec<ReportedPair>,
    grazing: Grazing,
    /// The error if memory for the pairs could not be allocated.
    memory: Result<(), Error>,
}

impl<'a> Sweeper<'a> {
    /// Makes a sweeper that writes the pairs that touch to `pairs`, and the reports for `decide` to
    /// `shared`.
    pub(super) fn new(
        search: &'a PairSearch<'a>,
        progress: &'a Progress,
        pairs: &'a mut Vec<Collision>,
        shared: &'a mut Vec<ReportedPair>,
    ) -> Self {
        Self {
            search,
            progress,
            pairs,
            shared,
            grazing: Grazing::default(),
            memory: Ok(()),
        }
    }

    /// Returns the number of grazing pairs and the reports for `decide`, or the error if memory ran
    /// out.
    pub(super) fn finish(self) -> Result<(Grazing, &'a [ReportedPair]), Error> {
        self.memory?;
        Ok((self.grazing, self.shared))
    }

    /// Sweeps the collected pairs, lists those that touch, and empties the collection.
    #[inline(never)]
    pub(super) fn sweep(&mut self, near: &mut NearPairs) {
        let count = std::mem::take(&mut near.count);
        let begin = self.pairs.len();
        let reported = self.shared.len();
        // Two pairs are swept at a time, and both are written whether they touch or not. So there
        // has to be room for one more.
        let room = count + 1;
        if self.pairs.try_reserve(room).is_err() {
            self.memory = Err(out_of_memory::<Collision>(begin + room, "the pairs found"));
            return;
        }
        self.pairs.resize(begin + room, Collision::default());
        // If the number of pairs is odd, the last sweep reads one pair more, which has to be valid.
        near.searchers[count] = 0;
        near.found[count] = 0;
        let mut hits = 0;
        for block in (0..count).step_by(PREFETCHED) {
            let end = count.min(block + PREFETCHED);
            let spheres = &self.search.sorted.spheres;
            // Prefetches the found proxies, so that their cache misses overlap.
            let ahead = near.found[block..end].iter();
            let ahead = ahead.map(|&other| spheres[other as usize].sphere);
            std::hint::black_box(ahead.fold(0, |all, bits| all ^ bits));
            for first in (block..end).step_by(2) {
                let there = if first + 1 < end { 3 } else { 1 };
                hits = self.sweep_two(near, first, there, begin, hits);
            }
        }
        if self.asks_whose() {
            hits = self.keep_own(near, begin, hits);
        }
        self.pairs.truncate(begin + hits);
        if self.progress.add(hits, self.shared.len() - reported) {
            // The step ends with an error, so the pairs are not needed.
            self.pairs.clear();
            self.shared.clear();
        }
    }

    /// Sweeps two pairs, or only the first of them, by the bit mask `there`. Appends those that
    /// touch to the `hits` pairs already listed from `begin` on, and returns the new number of
    /// hits. Also moves them to the front of `near`: entry k of `near` becomes the one of hit k.
    #[inline(always)]
    fn sweep_two(
        &mut self,
        near: &mut NearPairs,
        first: usize,
        there: usize,
        begin: usize,
        mut hits: usize,
    ) -> usize {
        let PairSearch { sorted, step, .. } = self.search;
        let b_offset = step.sets.b_offset() as u32;
        let places = two([first, first + 1], |k| [near.searchers[k], near.found[k]]);
        let sphere = |place: u32| &sorted.spheres[place as usize];
        let spheres = two(places, |places| two(places, sphere));
        let mut swept = sweep(spheres, step.dt);
        if swept.misses == 3 {
            return hits;
        }
        let just = swept.just & there;
        if just != 0 {
            if self.asks_whose() {
                // `decide_open` decides these pairs, and counts them as grazing only where the two
                // proxies own them.
                swept.hits &= !just;
            } else {
                self.grazing.all += u64::from(just.count_ones());
            }
        }
        let mut open = !(swept.hits | swept.misses) & there;
        while open != 0 {
            let lane = open.trailing_zeros() as usize % 2;
            open &= open - 1;
            if let Some(impact) = self.decide_open(places[lane], swept.grazing >> lane & 1 == 1) {
                swept.impacts[lane] = impact;
                swept.hits |= 1 << lane;
            }
        }
        // Writes both without a branch for each, which would often be mispredicted.
        for lane in 0..2 {
            let [a, b] = two(spheres[lane], |sphere| sphere.sphere);
            let Impact { toi, depth } = swept.impacts[lane];
            self.pairs[begin + hits] = Collision {
                a: a.min(b),
                b: a.max(b).wrapping_sub(b_offset),
                toi,
                depth,
            };
            near.searchers[hits] = places[lane][0];
            near.found[hits] = places[lane][1];
            hits += swept.hits >> lane & there >> lane & 1;
        }
        hits
    }

    /// Decides a pair that the sweep left open, if it passes [`Sweeper::is_own`]. Counts it as
    /// grazing if `grazing` is set.
    #[cold]
    #[inline(never)]
    fn decide_open(&mut self, places: [u32; 2], grazing: bool) -> Option<Impact> {
        if !self.is_own(places) {
            return None;
        }
        let PairSearch { sorted, step, .. } = self.search;
        let [one, other] = places.map(|place| &sorted.spheres[place as usize]);
        let (impact, arithmetic) = impact(one, other, step.dt);
        if grazing {
            self.grazing.count(arithmetic);
        }
        impact
    }

    /// Whether a hit has to pass [`Sweeper::is_own`]: groups may exclude the pair, or other
    /// segments may own it.
    #[inline(always)]
    fn asks_whose(&self) -> bool {
        self.search.groups || self.search.cut
    }

    /// Keeps, of the `hits` pairs listed from `begin` on, those that pass [`Sweeper::is_own`].
    /// Returns the number of pairs kept.
    fn keep_own(&mut self, near: &NearPairs, begin: usize, hits: usize) -> usize {
        let mut kept = 0;
        for hit in 0..hits {
            if self.is_own([near.searchers[hit], near.found[hit]]) {
                self.pairs[begin + kept] = self.pairs[begin + hit];
                kept += 1;
            }
        }
        kept
    }

    /// Whether groups allow a pair and these two proxies own it. If the pair is shared, reports it
    /// for `decide`, and returns false.
    #[inline(always)]
    fn is_own(&mut self, places: [u32; 2]) -> bool {
        let PairSearch { sorted, step, .. } = self.search;
        let places = two(places, |place| place as usize);
        let [a, b] = two(places, |place| sorted.spheres[place].sphere);
        if self.search.groups && step.spheres[a as usize].ignores(&step.spheres[b as usize]) {
            return false;
        }
        // Most pairs are of two spheres that are not cut.
        let tags = two(places, |place| sorted.tags[place]);
        if two(tags, segment_power) == [0, 0] {
            return true;
        }
        // The proxies are two segments of one sphere.
        if a == b {
            return false;
        }
        let scale = self.search.scale;
        let spheres = two(places, |place| scale.sphere(&sorted.spheres[place]));
        match ownership(spheres.each_ref(), tags, scale.dt) {
            Ownership::Own => true,
            Ownership::Other => false,
            Ownership::Shared => {
                // `decide` counts the pair once, however many segments report it. It expects
                // GRAZING in all of these reports, even if the pair is not close to tangency.
                let [a, b] = [a.min(b), a.max(b) | GRAZING];
                self.shared.push(ReportedPair { a, b });
                false
            }
        }
    }
}
