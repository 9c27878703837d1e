//! The swept test of the pairs whose balls meet.

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

/// Proxies that are prefetched before they are swept.
const PREFETCHED: usize = 64;

/// Sweeps pairs, and lists those that touch.
pub(super) struct Sweeper<'a> {
    search: &'a PairSearch<'a>,
    /// What all tasks have found so far.
    progress: &'a Progress,
    /// Pairs that touch.
    pairs: &'a mut Vec<Collision>,
    /// Pairs that several time segments may report.
    shared: &'a mut Vec<ReportedPair>,
    grazing: Grazing,
    /// Whether there was enough memory for the pairs.
    memory: Result<(), Error>,
}

impl<'a> Sweeper<'a> {
    /// A sweeper that writes the pairs that touch, and those that are still to be decided,
    /// into vectors of its own.
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

    /// How many pairs were grazing, and the pairs that are still to be decided.
    pub(super) fn finish(self) -> Result<(Grazing, &'a [ReportedPair]), Error> {
        self.memory?;
        Ok((self.grazing, self.shared))
    }

    /// Sweeps the pairs collected, lists those that touch, and leaves none.
    #[inline(never)]
    pub(super) fn sweep(&mut self, near: &mut NearPairs) {
        let count = std::mem::take(&mut near.count);
        let begin = self.pairs.len();
        let reported = self.shared.len();
        // Two are swept at a time, and written at the end, even if in vain.
        let room = count + 1;
        if self.pairs.try_reserve(room).is_err() {
            self.memory = Err(out_of_memory::<Collision>(begin + room, "the pairs found"));
            return;
        }
        self.pairs.resize(begin + room, Collision::default());
        // What is swept past the end has to be some proxy.
        near.searchers[count] = 0;
        near.found[count] = 0;
        let mut hits = 0;
        for block in (0..count).step_by(PREFETCHED) {
            let end = count.min(block + PREFETCHED);
            let spheres = &self.search.sorted.spheres;
            // So that the processor waits for all of them at once.
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
            // There will be no list.
            self.pairs.clear();
            self.shared.clear();
        }
    }

    /// Sweeps two pairs, or the first of them, and adds those that touch to the `hits` that
    /// are already listed from `begin` on. Returns how many there are then. In `near` the
    /// pairs that touch take the places of the first pairs.
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
                // Those that are for others to report are not counted.
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
        // Writes both without a branch for each, which would be guessed wrong often.
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

    /// Decides a pair that the sweep left open, if it is these proxies'.
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

    /// Whether some pairs are not for the proxies that meet to report.
    #[inline(always)]
    fn asks_whose(&self) -> bool {
        self.search.groups || self.search.cut
    }

    /// Of the pairs that touch, from `begin` on, keeps those that are these proxies'.
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

    /// Whether a pair counts, and is for these two proxies to report.
    #[inline(always)]
    fn is_own(&mut self, places: [u32; 2]) -> bool {
        let PairSearch { sorted, step, .. } = self.search;
        let places = two(places, |place| place as usize);
        let [a, b] = two(places, |place| sorted.spheres[place].sphere);
        if self.search.groups && step.spheres[a as usize].ignores(&step.spheres[b as usize]) {
            return false;
        }
        // Most are of spheres that are not cut.
        let tags = two(places, |place| sorted.tags[place]);
        if two(tags, segment_power) == [0, 0] {
            return true;
        }
        // Two segments of one sphere.
        if a == b {
            return false;
        }
        let scale = self.search.scale;
        let spheres = two(places, |place| scale.sphere(&sorted.spheres[place]));
        match ownership(spheres.each_ref(), tags, scale.dt) {
            Ownership::Own => true,
            Ownership::Other => false,
            Ownership::Shared => {
                // Not to be told yet, be it grazing or not.
                let [a, b] = [a.min(b), a.max(b) | GRAZING];
                self.shared.push(ReportedPair { a, b });
                false
            }
        }
    }
}
