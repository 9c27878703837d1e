//! Applies the swept test of moving spheres to the pairs whose bounding spheres meet.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies"
)]

use super::found::Progress;
use super::near::NearPairs;
use super::search::PairSearch;
use crate::cpu::images::{ProxySpace, ReportIn};
use crate::exact::{GRAZING, Grazing, Impact, Listed, Report, ReportedPair, impact};
use crate::lanes::two;
use crate::memory::out_of_memory;
use crate::shared::ownership::{Ownership, ownership};
use crate::shared::tag::segment_power;
use crate::{Collision, Error};

/// Number of pairs in a block. One sphere of each pair is prefetched before the block's swept
/// tests.
const PREFETCHED: usize = 64;

pub(super) struct Sweeper<'a, S: ProxySpace> {
    search: &'a PairSearch<'a, S>,
    progress: &'a Progress,
    pairs: &'a mut Vec<S::Listed>,
    shared: &'a mut Vec<ReportIn<S>>,
    grazing: Grazing,
    memory: Result<(), Error>,
}

impl<'a, S: ProxySpace> Sweeper<'a, S> {
    pub(super) fn new(
        search: &'a PairSearch<'a, S>,
        progress: &'a Progress,
        pairs: &'a mut Vec<S::Listed>,
        shared: &'a mut Vec<ReportIn<S>>,
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

    /// Returns the counts of grazing pairs and the reports for the stage `decide`, or the error if
    /// memory ran out.
    pub(super) fn finish(self) -> Result<(Grazing, &'a [ReportIn<S>]), Error> {
        self.memory?;
        Ok((self.grazing, self.shared))
    }

    #[inline(never)]
    pub(super) fn sweep(&mut self, near: &mut NearPairs) {
        let count = std::mem::take(&mut near.count);
        let begin = self.pairs.len();
        let reported = self.shared.len();
        // The swept test writes two pairs at a time, whether they touch or not, so the list needs
        // room for one pair more.
        let room = count + 1;
        if self.pairs.try_reserve(room).is_err() {
            self.memory = Err(out_of_memory::<S::Listed>(begin + room, "the pairs found"));
            return;
        }
        self.pairs.resize(begin + room, S::Listed::default());
        // For an odd number of pairs, the last swept test reads one entry beyond the list, which
        // has to contain valid indices.
        near.searchers[count] = 0;
        near.found[count] = 0;
        let mut hits = 0;
        for block in (0..count).step_by(PREFETCHED) {
            let end = count.min(block + PREFETCHED);
            let spheres = &self.search.sorted.spheres;
            let ahead = near.found[block..end].iter();
            let ahead = ahead.map(|&other| spheres[other as usize].word);
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
            self.pairs.clear();
            self.shared.clear();
        }
    }

    /// Applies the swept test to entries `first` and `first + 1` of `near`, if their bits in
    /// `there` are set. Appends the pairs that touch to the list, in which `hits` pairs begin at
    /// index `begin`, and returns the new `hits`. Entry k of `near` is overwritten by the pair in
    /// place `begin + k` of the list.
    #[inline(always)]
    fn sweep_two(
        &mut self,
        near: &mut NearPairs,
        first: usize,
        there: usize,
        begin: usize,
        mut hits: usize,
    ) -> usize {
        let PairSearch {
            sorted,
            step,
            space,
            ..
        } = self.search;
        let b_offset = step.sets.b_offset() as u32;
        let places = two([first, first + 1], |k| [near.searchers[k], near.found[k]]);
        let sphere = |place: u32| &sorted.spheres[place as usize];
        let spheres = two(places, |places| two(places, sphere));
        let words = two(spheres, |spheres| two(spheres, |sphere| sphere.word));
        let mut swept = space.sweep(spheres, words, step.dt);
        if swept.misses == 3 {
            return hits;
        }
        let just = swept.just & there;
        let are_plain = space.are_plain(words[0]) && space.are_plain(words[1]);
        if just != 0 {
            if self.asks_whose() || !are_plain {
                // `decide_open` decides pairs that just touch. It counts such a pair as grazing
                // only if these two time segments own (report) it.
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
        if !are_plain && !self.asks_whose() {
            for (lane, &places) in places.iter().enumerate() {
                if swept.hits >> lane & there >> lane & 1 == 1 && !self.is_own(places) {
                    swept.hits &= !(1 << lane);
                }
            }
        }
        // The results of both swept tests are written, whether the spheres touch or not, because a
        // branch for each would often be mispredicted.
        for lane in 0..2 {
            // Two entries of the grids that are the same image of one sphere are no pair, and are
            // removed below.
            let ([a, b], image) = space.named(words[lane]);
            let Impact { toi, depth } = swept.impacts[lane];
            let pair = Collision {
                a,
                b: b.wrapping_sub(b_offset),
                toi,
                depth,
            };
            self.pairs[begin + hits] = S::Listed::new(pair, image);
            near.searchers[hits] = places[lane][0];
            near.found[hits] = places[lane][1];
            hits += swept.hits >> lane & there >> lane & 1;
        }
        hits
    }

    /// Decides by exact arithmetic a pair that the swept test has left open. Returns `None` if the
    /// spheres do not touch, or if [`Sweeper::is_own`] rejects the pair. `grazing` says whether to
    /// count the pair as grazing.
    #[cold]
    #[inline(never)]
    fn decide_open(&mut self, places: [u32; 2], grazing: bool) -> Option<Impact> {
        if !self.is_own(places) {
            return None;
        }
        let PairSearch {
            sorted,
            step,
            space,
            ..
        } = self.search;
        let [one, other] = places.map(|place| &sorted.spheres[place as usize]);
        let shift = space.shift([one.word, other.word]);
        let (impact, arithmetic) = impact(one, other, shift, step.dt);
        if grazing {
            self.grazing.count(arithmetic);
        }
        impact
    }

    #[inline(always)]
    fn asks_whose(&self) -> bool {
        self.search.groups || self.search.cut
    }

    /// Removes the pairs that [`Sweeper::is_own`] rejects from the `hits` pairs from index `begin`
    /// on. Returns the number of pairs kept.
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

    /// Returns whether two time segments report the pair of their spheres: collision groups allow
    /// it, and the segments contain the closest approach. If rounding leaves this open, the pair
    /// goes to the stage `decide`, and the result is false.
    #[inline(always)]
    fn is_own(&mut self, places: [u32; 2]) -> bool {
        let PairSearch {
            sorted,
            step,
            space,
            ..
        } = self.search;
        let places = two(places, |place| place as usize);
        let words = two(places, |place| sorted.spheres[place].word);
        let [a, b] = two(words, |word| space.sphere(word));
        if self.search.groups && step.spheres[a as usize].ignores(&step.spheres[b as usize]) {
            return false;
        }
        // In open space, two spheres that are not cut into time segments have only this candidate,
        // so it owns the pair.
        let tags = two(places, |place| sorted.tags[place]);
        let cut = two(tags, segment_power) != [0, 0];
        if !cut && space.are_plain(words) {
            return true;
        }
        let Some([first, second]) = space.in_order(words) else {
            return false;
        };
        let words = [words[first], words[second]];
        let tags = [tags[first], tags[second]];
        let places = [places[first], places[second]];
        if !space.reports(words) {
            return false;
        }
        if !cut {
            return true;
        }
        let scale = self.search.scale;
        let spheres = two(places, |place| scale.sphere(&sorted.spheres[place]));
        let displaced = space.displaced(spheres.each_ref(), words);
        match ownership(spheres.each_ref(), displaced, tags, scale.dt) {
            Ownership::Own => true,
            Ownership::Other => false,
            Ownership::Shared => {
                // The stage `decide` counts a pair once, however many segments report it. It
                // expects the flag GRAZING in such reports, even if the pair is not close to
                // tangency.
                let [a, b] = two(words, |word| space.sphere(word));
                let pair = ReportedPair { a, b: b | GRAZING };
                self.shared.push(Report::new(pair, space.image(words)));
                false
            }
        }
    }
}
