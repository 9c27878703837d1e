//! Applies the swept test of moving spheres to the pairs whose bounding spheres meet.

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

/// Number of pairs in a block. A pair has a searching sphere and a sphere that it found. Before a
/// block is tested, the found spheres of all its pairs are read, which brings them into the cache.
const PREFETCHED: usize = 64;

pub(super) struct TaskOutput<'a, S: ProxySpace> {
    /// Touching pairs in which the second sphere is not displaced. In open space, these are all
    /// pairs.
    pub(super) pairs: &'a mut Vec<Collision>,
    /// Touching pairs in which the second sphere is displaced to one of its periodic images, each
    /// with this displacement. In open space, there are none.
    pub(super) images: &'a mut Vec<ImageCollision>,
    /// Reports of pairs for which rounding leaves open which time segments have to report them. So
    /// the list may contain a pair several times. A later stage (`decide`) counts the pair once.
    pub(super) shared: &'a mut Vec<ReportIn<S>>,
}

/// Applies the swept test (of moving spheres) to pairs, and lists the pairs that touch.
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
        // The swept test writes two results at a time to the list, before it is known whether they are hits.
        // If the number of pairs is odd, the last write may end one entry past them. So the list needs room
        // for one more entry than there are pairs.
        let room = count + 1;
        if pairs.try_reserve(room).is_err() {
            self.memory = Err(out_of_memory::<Collision>(begin + room, "the pairs found"));
            return;
        }
        pairs.resize(begin + room, Collision::default());
        // The swept test reads two pairs at a time. If the number of pairs is odd, it reads one
        // entry too many, which must contain valid indices.
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

    /// The grids of a periodic domain may contain several periodic copies of a pair, but only one
    /// of them must be tested. Removes the other copies from the range `block` of found pairs.
    /// Returns the end of the pairs that are left in the range.
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

    /// Applies the swept test (of moving spheres) to two consecutive pairs in `near`, beginning
    /// with the pair at index `first`. The bit mask `there` tells which of these two pairs exist. A
    /// touching pair is appended to the output list of pairs, or to the list `images` if a sphere
    /// of the pair is displaced.
    ///
    /// Earlier calls have appended `hits` pairs to the output list, from index `begin` on. Returns
    /// `hits` plus the number of pairs that this call appends to that list. If the call appends a
    /// pair at index `begin` + k, it also writes the two spheres of the pair to entry k of `near`.
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
                // Several tasks may find a pair of spheres that just touch, each with other time
                // segments of the spheres. Such a pair must be counted as grazing only once, by the
                // task that reports it. So the exact test (`decide_open`) tests and counts the
                // pair, and does so only in this one task.
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
        // The results of both tested pairs are written even if their spheres do not touch, because
        // a branch for each would often be mispredicted.
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

    /// Adds a touching pair to the list `images`, which is for pairs in which a sphere is displaced
    /// in a periodic domain. Does nothing if the time segments of this test are not known to be
    /// those that report the pair ([`Sweeper::is_own`]).
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

    /// Decides by exact arithmetic whether two spheres touch. The swept test (of moving spheres)
    /// could not decide it. Returns `None` if the spheres do not touch, or if other time segments
    /// of them report the pair ([`Sweeper::is_own`]). If `grazing` is true, also counts the pair as
    /// grazing.
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

    /// Several tasks may find the same touching pair, each with other time segments of its spheres.
    /// Only one task reports the pair ([`Sweeper::is_own`]). This function looks at `hits` pairs of
    /// the output list, from index `begin` on, and removes those that this task does not report.
    /// The two spheres of pair `begin` + k are in entry k of `near`. Returns the number of pairs
    /// that are left.
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

    /// Returns whether two time segments have to report the pair of their spheres. They do if both
    /// contain the time of closest approach, and if the collision groups allow the pair. If
    /// rounding leaves open whether they contain this time, returns false, and adds the pair to a
    /// list for the later stage `decide`.
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
        // If neither sphere is cut into time segments, the pair is tested only once, and is
        // reported here.
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
                // Several time segments may report this pair, and a later stage (`decide`) counts
                // it once. That stage expects the flag GRAZING in each report, even if the pair is
                // not close to tangency.
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
