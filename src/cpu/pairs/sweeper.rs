//! Applies the sweep to the pairs whose balls meet.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies"
)]

use std::ops::Range;

use super::found::Progress;
use super::near::NearPairs;
use super::search::PairSearch;
use crate::cpu::images::{ProxySpace, ReportIn};
use crate::exact::{GRAZING, Grazing, Hit, ImageCollision, Listed, Report, ReportedPair, impact};
use crate::lanes::two;
use crate::memory::out_of_memory;
use crate::shared::ownership::{Ownership, ownership};
use crate::shared::tag::segment_power;
use crate::{Collision, Error};

/// The proxies of so many pairs are read before the first is tested, which brings them into the
/// cache.
const PREFETCHED: usize = 64;

pub(super) struct TaskOutput<'a, S: ProxySpace> {
    /// Touching pairs without an image.
    pub(super) pairs: &'a mut Vec<Collision>,
    pub(super) images: &'a mut Vec<ImageCollision>,
    pub(super) shared: &'a mut Vec<ReportIn<S>>,
}

pub(super) struct Sweeper<'a, S: ProxySpace> {
    search: &'a PairSearch<'a, S>,
    progress: &'a Progress,
    output: TaskOutput<'a, S>,
    grazing: Grazing,
    memory: Result<(), Error>,
}

impl<'a, S: ProxySpace> Sweeper<'a, S> {
    pub(super) fn new(
        search: &'a PairSearch<'a, S>,
        progress: &'a Progress,
        output: TaskOutput<'a, S>,
    ) -> Self {
        Self {
            search,
            progress,
            output,
            grazing: Grazing::default(),
            memory: Ok(()),
        }
    }

    pub(super) fn finish(self) -> Result<Grazing, Error> {
        self.memory?;
        Ok(self.grazing)
    }

    #[inline(never)]
    pub(super) fn sweep(&mut self, near: &mut NearPairs) {
        let count = std::mem::take(&mut near.count);
        let TaskOutput {
            pairs,
            images,
            shared,
        } = &mut self.output;
        let begin = pairs.len();
        let before = [images.len(), shared.len()];
        // Two results are written before it is known whether they are hits, so the last
        // write may end one entry past them.
        let room = count + 1;
        if pairs.try_reserve(room).is_err() {
            self.memory = Err(out_of_memory::<Collision>(begin + room, "the pairs found"));
            return;
        }
        pairs.resize(begin + room, Collision::default());
        // Two pairs are read at a time, so one entry too many must have valid indices.
        near.searchers[count] = 0;
        near.found[count] = 0;
        let mut hits = 0;
        for block in (0..count).step_by(PREFETCHED) {
            let mut end = count.min(block + PREFETCHED);
            let spheres = &self.search.sorted.spheres;
            let ahead = near.found[block..end].iter();
            let ahead = ahead.map(|&other| spheres[other as usize].word);
            let words = std::hint::black_box(ahead.fold(0, |all, word| all | word));
            if self.search.space.may_repeat(words) {
                end = self.drop_copies(near, block..end);
            }
            for first in (block..end).step_by(2) {
                let there = if first + 1 < end { 3 } else { 1 };
                hits = self.sweep_two(near, first, there, begin, hits);
            }
        }
        if self.asks_whose() {
            hits = self.keep_own(near, begin, hits);
        }
        let TaskOutput {
            pairs,
            images,
            shared,
        } = &mut self.output;
        pairs.truncate(begin + hits);
        let all = hits + images.len() - before[0];
        if self.progress.add(all, shared.len() - before[1]) {
            pairs.clear();
            images.clear();
            shared.clear();
        }
    }

    /// Removes the copies of pairs that others report from the range `block`. Returns the new end.
    #[inline(never)]
    fn drop_copies(&self, near: &mut NearPairs, block: Range<usize>) -> usize {
        let PairSearch { sorted, space, .. } = self.search;
        let mut end = block.start;
        for k in block {
            let [searcher, found] = [near.searchers[k], near.found[k]];
            let words = [searcher, found].map(|place| sorted.spheres[place as usize].word);
            near.searchers[end] = searcher;
            near.found[end] = found;
            end += usize::from(space.reports(words));
        }
        end
    }

    /// Sweeps the pairs `first` and `first` + 1 of `near`, of which `there` tells which
    /// exist. Appends a touching pair to the output list, or to `images` if it has an
    /// image.
    ///
    /// The list has `hits` pairs from index `begin` on. Returns `hits` plus those appended,
    /// and writes the proxies of pair `begin` + k to entry k of `near`.
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
        let plain = two(words, |words| space.are_plain(words));
        let mut swept = space.sweep(spheres, words, plain[0] && plain[1], step.dt);
        if swept.misses == 3 {
            return hits;
        }
        let just = swept.just & there;
        if just != 0 {
            if self.asks_whose() {
                // Several tasks may find a pair that just touches. The exact
                // test (`decide_open`) counts it as grazing, once, in the task
                // that reports it.
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
        let mut listed = swept.hits & there;
        for lane in 0..2 {
            if !plain[lane] && listed >> lane & 1 == 1 {
                listed &= !(1 << lane);
                self.list_with_image(places[lane], words[lane], swept.impacts[lane]);
            }
        }
        // Both results are always written: a branch for each would often be mispredicted.
        for lane in 0..2 {
            let [a, b] = two(words[lane], |word| space.sphere(word));
            let Hit { toi, depth } = swept.impacts[lane];
            self.output.pairs[begin + hits] = Collision {
                a: a.min(b),
                b: a.max(b).wrapping_sub(b_offset),
                toi,
                depth,
            };
            near.searchers[hits] = places[lane][0];
            near.found[hits] = places[lane][1];
            hits += listed >> lane & 1;
        }
        hits
    }

    #[inline(never)]
    fn list_with_image(&mut self, places: [u32; 2], words: [u32; 2], impact: Hit) {
        if !self.is_own(places) {
            return;
        }
        let PairSearch { step, space, .. } = self.search;
        let ([a, b], image) = space.named(words);
        let images = &mut self.output.images;
        if images.try_reserve(1).is_err() {
            let count = images.len() + 1;
            self.memory = Err(out_of_memory::<ImageCollision>(
                count,
                "the pairs with images",
            ));
            return;
        }
        let Hit { toi, depth } = impact;
        let b = b.wrapping_sub(step.sets.b_offset() as u32);
        images.push(ImageCollision::new(Collision { a, b, toi, depth }, image));
    }

    /// Decides exactly a pair that the sweep has left open. Returns `None` if the spheres
    /// do not touch, or if other segments report the pair. Counts it if `grazing`.
    #[cold]
    #[inline(never)]
    fn decide_open(&mut self, places: [u32; 2], grazing: bool) -> Option<Hit> {
        if !self.is_own(places) {
            return None;
        }
        let PairSearch {
            sorted,
            step,
            space,
            ..
        } = self.search;
        if step.enclosing {
            return Some(Hit::default());
        }
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

    /// Removes from the `hits` pairs of the output list, from index `begin` on, those that
    /// other tasks report ([`Sweeper::is_own`]). Entry k of `near` has the proxies of pair
    /// `begin` + k. Returns the number that is left.
    fn keep_own(&mut self, near: &NearPairs, begin: usize, hits: usize) -> usize {
        let mut kept = 0;
        for hit in 0..hits {
            if self.is_own([near.searchers[hit], near.found[hit]]) {
                self.output.pairs[begin + kept] = self.output.pairs[begin + hit];
                kept += 1;
            }
        }
        kept
    }

    /// Whether two segments own the pair of their spheres and the groups allow it. A shared
    /// pair is reported to `decide` instead.
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
        // Uncut spheres are tested only once.
        let tags = two(places, |place| sorted.tags[place]);
        if two(tags, segment_power) == [0, 0] {
            return true;
        }
        let Some([first, second]) = space.in_order(words) else {
            return false;
        };
        let words = [words[first], words[second]];
        let tags = [tags[first], tags[second]];
        let places = [places[first], places[second]];
        let scale = self.search.scale;
        let spheres = two(places, |place| scale.sphere(&sorted.spheres[place]));
        let displaced = space.displaced(spheres.each_ref(), words);
        match ownership(spheres.each_ref(), displaced, tags, scale.dt) {
            Ownership::Own => true,
            Ownership::Other => false,
            Ownership::Shared => {
                // `decide` expects the flag in each report.
                let [a, b] = two(words, |word| space.sphere(word));
                let pair = ReportedPair { a, b: b | GRAZING };
                self.output
                    .shared
                    .push(Report::new(pair, space.image(words)));
                false
            }
        }
    }
}
