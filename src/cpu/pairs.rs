//! `pairs`: tests every proxy against those in reach of it: by their balls first,
//! and those that pass with the swept test, which decides most of them at once.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies and slots, and everything else is less"
)]

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::balls::{Ball, BallProbe, PathProbe, Probe};
use super::buckets::Buckets;
use super::scatter::SortedProxies;
use crate::cpu::neighbors::{Asked, Grid, Seeker};
use crate::exact::{GRAZING, Grazing, Impact, ReportedPair, impact, sweep};
use crate::lanes::{LANES, four, two};
use crate::memory::out_of_memory;
use crate::reuse::{ReusedVec, ScratchPool};
use crate::shared::ownership::{Ownership, ownership};
use crate::shared::segments::{Cut, Frame, SpherePath};
use crate::shared::sorted::SortedCell;
use crate::shared::tag::{level_of, segment_power};
use crate::shared::units::Scale;
use crate::step::CheckedStep;
use crate::{Collision, Error};

/// What the earlier stages have made.
pub(crate) struct World<'a> {
    /// The grids.
    pub(crate) grid: Grid<'a>,
    /// Where cells are counted from.
    pub(crate) frame: &'a Frame,
    /// What is in them.
    pub(crate) sorted: &'a SortedProxies,
    /// How many proxies there are.
    pub(crate) proxies: usize,
    /// The step in the caller's units, in which the sorted proxies are, too.
    pub(crate) given: CheckedStep<'a>,
    /// How that comes into the units of the grids.
    pub(crate) scale: &'a Scale,
    /// Whether any sphere is cut into time segments.
    pub(crate) cut: bool,
    /// Whether groups may leave out a pair.
    pub(crate) groups: bool,
}

impl World<'_> {
    #[inline(always)]
    fn seeker(&self, index: usize, ball: &Ball) -> Seeker {
        Seeker {
            index,
            slot: self.sorted.slots[index],
            tag: self.sorted.tags[index],
            middle: ball.middle,
        }
    }

    /// How one moves, if its level looks into others.
    #[inline(always)]
    fn path(&self, seeker: &Seeker) -> Option<SpherePath> {
        let searches = self.grid.searched[level_of(seeker.tag) as usize] != 0;
        let given = &self.sorted.proxies[seeker.index];
        searches.then(|| self.scale.path(given, self.frame))
    }

    fn cell(&self, index: usize) -> SortedCell {
        let tag = self.sorted.tags[index];
        let level = &self.grid.levels[level_of(tag) as usize];
        SortedCell {
            cell: level.cell_of(self.sorted.ball(index).middle),
            tag,
        }
    }

    /// Proxies a task: their neighbours overlap, so they are best done together.
    fn task_size(&self) -> usize {
        (self.proxies / 64).clamp(1024, 8192)
    }

    fn of_task(&self, task: usize) -> Range<usize> {
        let begin = task * self.task_size();
        begin..self.proxies.min(begin + self.task_size())
    }
}

/// How many pairs there are to test.
pub(crate) fn tally(world: &World<'_>) -> u64 {
    (0..world.proxies)
        .into_par_iter()
        .with_min_len(1024)
        .map(|index| {
            let grid = &world.grid;
            let mut candidates = 0;
            let mut count = |ranges: &[Range<usize>], _| {
                candidates += ranges.iter().map(|range| range.len() as u64).sum::<u64>();
            };
            let seeker = world.seeker(index, &world.sorted.ball(index));
            match grid.ranges_around(&seeker) {
                Some(ranges) => count(&ranges, None),
                None => grid.look_around(&seeker, |range, asked| count(&[range], Some(asked))),
            }
            if let Some(path) = world.path(&seeker) {
                grid.look_beyond(&seeker, &path, &mut count);
            }
            candidates
        })
        .sum()
}

/// What was found, in memory that is kept from step to step.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Pairs that touch, by a.
    pub(crate) pairs: Buckets<Collision>,
    /// Pairs that several time segments may have reported: still to be decided.
    pub(crate) shared: ReusedVec<ReportedPair>,
    /// Those of each task.
    reports: ScratchPool<ReportedPair>,
}

impl Found {
    /// Bytes of it.
    pub(crate) fn bytes(&self) -> usize {
        self.pairs.bytes() + self.shared.bytes() + self.reports.bytes()
    }
}

/// What it took, and came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Pairs that touch, and need not be decided any more.
    pub(crate) pairs: u64,
    /// Pairs of proxies that were tested.
    pub(crate) candidates: u64,
    /// Pairs of which it could not be told at once whether they touch, but for those
    /// still to be decided.
    pub(crate) grazing: Grazing,
}

/// Tests them, and finds those that touch, if they are no more than `most`.
pub(crate) fn pairs(world: &World<'_>, most: u64, found: &mut Found) -> Result<Counts, Error> {
    let Found {
        pairs,
        shared,
        reports,
    } = found;
    let so_far = SoFar::default();
    let all = Mutex::new((Counts::default(), shared.empty()));
    let make = |number: usize, pairs: &mut Vec<Collision>| {
        let mut reports = reports.take();
        let mut task = Task {
            world,
            near: [[0; NEAR]; 2],
            nearby: 0,
            so_far: &so_far,
            most,
            pairs,
            shared: reports.empty(),
            counts: Counts::default(),
            memory: Ok(()),
        };
        for index in world.of_task(number) {
            task.seek(index);
        }
        task.test();
        task.memory?;
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.0.candidates += task.counts.candidates;
        all.0.grazing = all.0.grazing.plus(task.counts.grazing);
        let (shared, more) = (&mut all.1, task.shared.len());
        let room = shared.try_reserve(more);
        room.map_err(|_| {
            out_of_memory::<ReportedPair>(shared.len() + more, "the pairs to decide")
        })?;
        shared.extend_from_slice(task.shared);
        Ok(())
    };
    let tasks = world.proxies.div_ceil(world.task_size());
    let first_set = world.given.sets.first_len(world.given.spheres.len());
    pairs.fill(tasks, first_set, first_set, make, |pair| pair.a)?;
    if so_far.is_too_much([0; 2], most) {
        return Err(Error::TooManyPairs {
            needed: so_far.pairs.into_inner() + so_far.shared.into_inner(),
            limit: most,
        });
    }
    let (counts, _) = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Counts {
        pairs: so_far.pairs.into_inner(),
        ..counts
    })
}

/// What all tasks have come to. Goes on past the limit, so that an error can tell
/// what was needed.
#[derive(Debug, Default)]
struct SoFar {
    /// Pairs that touch.
    pairs: AtomicU64,
    /// Reports of pairs that are still to be decided, some of them more than once.
    shared: AtomicU64,
}

impl SoFar {
    /// Counts some more, and tells whether the pairs are certainly too many, or the
    /// reports more than are worth their memory: they are of pairs that do not touch, too,
    /// and some come more than once, so eight times as many are allowed, or 2¹⁹.
    fn is_too_much(&self, [pairs, shared]: [usize; 2], most: u64) -> bool {
        let pairs = self.pairs.fetch_add(pairs as u64, Relaxed) + pairs as u64;
        let shared = self.shared.fetch_add(shared as u64, Relaxed) + shared as u64;
        pairs > most || shared / 8 > most.max(1 << 16)
    }
}

/// Pairs that passed the first test are collected before the next, so that neither
/// has to wait for the other: so many at most.
const NEAR: usize = 4096;

/// Proxies that are asked for before they are swept.
const AHEAD: usize = 64;

/// Where those of [`LANES`] are that a mask has a bit for, and how many they are.
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

/// Some of the proxies, being tested.
struct Task<'a> {
    world: &'a World<'a>,
    /// Pairs that passed the first test, and how many: places among the sorted, of those
    /// who look and of those whom they meet. Those that hit take the place of the first of
    /// them.
    near: [[u32; NEAR]; 2],
    nearby: usize,
    /// What all tasks have found so far, and how many pairs there may be.
    so_far: &'a SoFar,
    most: u64,
    pairs: &'a mut Vec<Collision>,
    shared: &'a mut Vec<ReportedPair>,
    counts: Counts,
    /// Whether there was enough for the pairs.
    memory: Result<(), Error>,
}

impl Task<'_> {
    /// Looks for the partners of one.
    #[inline(always)]
    fn seek(&mut self, index: usize) {
        let World { grid, .. } = self.world;
        let ball = self.world.sorted.ball(index);
        let seeker = self.world.seeker(index, &ball);
        let probe = BallProbe::new(&ball);
        match grid.ranges_around(&seeker) {
            Some(ranges) => self.collect(index as u32, &probe, &ranges),
            None => grid.look_around(&seeker, |range, asked| {
                self.collect_asked(index as u32, &probe, &[range], asked);
            }),
        }
        if let Some(path) = self.world.path(&seeker) {
            let probe = PathProbe::new(&path, ball.middle, Cut::of_tag(seeker.tag).half());
            grid.look_beyond(&seeker, &path, &mut |ranges, asked| match asked {
                None => self.collect(index as u32, &probe, ranges),
                Some(asked) => self.collect_asked(index as u32, &probe, ranges, asked),
            });
        }
    }

    /// Collects those of some ranges whose balls meet.
    #[inline(always)]
    fn collect(&mut self, index: u32, probe: &impl Probe, ranges: &[Range<usize>]) {
        let all: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        if self.nearby + all + LANES > NEAR {
            self.collect_in_pieces(index, probe, ranges);
            return;
        }
        self.counts.candidates += all as u64;
        let begin = self.nearby;
        let end = ranges
            .iter()
            .fold(begin, |end, range| self.add(end, probe, range));
        // Most find no more than LANES, so that many are filled without asking.
        let own = &mut self.near[0];
        if let Some(own) = own.get_mut(begin..begin + LANES) {
            own.fill(index);
        }
        if end > begin + LANES {
            own[begin + LANES..end].fill(index);
        }
        self.nearby = end;
    }

    /// Adds those of a range whose balls meet to the ones collected, up to `end`, for
    /// which there is room, and tells the new end. Most ranges are so short that one
    /// block will do, be it for nothing: nothing is asked but whether that is so.
    #[inline(always)]
    fn add(&mut self, mut end: usize, probe: &impl Probe, range: &Range<usize>) -> usize {
        let mut block = range.start / LANES;
        let mut there = usize::MAX << (range.start % LANES);
        let mut rest = range.end - block * LANES;
        while rest > LANES {
            end = self.add_block(end, probe, block, there);
            there = usize::MAX;
            block += 1;
            rest -= LANES;
        }
        self.add_block(end, probe, block, there & ((1 << rest) - 1))
    }

    /// The same for those of a block that are there, one bit each.
    #[inline(always)]
    fn add_block(&mut self, end: usize, probe: &impl Probe, block: usize, there: usize) -> usize {
        let Some(balls) = self.world.sorted.balls.get(block) else {
            return end;
        };
        // Adds all without a branch for each, which would be guessed wrong often.
        let (lanes, count) = &PATTERNS[probe.meets(balls) & there & (PATTERNS.len() - 1)];
        let first = (block * LANES) as u32;
        if let Some(others) = self.near[1].get_mut(end..end + LANES) {
            others.copy_from_slice(&four(*lanes, |lane| first + lane));
        }
        end + count
    }

    /// Collects from ranges that do not fit.
    #[cold]
    #[inline(never)]
    fn collect_in_pieces(&mut self, index: u32, probe: &impl Probe, ranges: &[Range<usize>]) {
        const PIECE: usize = NEAR / 2;
        for range in ranges {
            for first in range.clone().step_by(PIECE) {
                self.test();
                let piece = first..range.end.min(first + PIECE);
                self.collect(index, probe, std::slice::from_ref(&piece));
            }
        }
    }

    /// Collects from ranges of which some may lie outside the boxes, where several cells
    /// share a slot.
    #[cold]
    fn collect_asked(
        &mut self,
        index: u32,
        probe: &impl Probe,
        ranges: &[Range<usize>],
        asked: Asked,
    ) {
        for other in ranges.iter().cloned().flatten() {
            self.counts.candidates += 1;
            let balls = &self.world.sorted.balls[other / LANES];
            let meets = probe.meets(balls) >> (other % LANES) & 1 == 1;
            if meets && asked.holds(&self.world.cell(other)) {
                self.collect(index, probe, std::slice::from_ref(&(other..other + 1)));
                // Counted there once more.
                self.counts.candidates -= 1;
            }
        }
    }

    /// Sweeps those collected, and takes those that touch.
    #[inline(never)]
    fn test(&mut self) {
        let nearby = std::mem::take(&mut self.nearby);
        let begin = self.pairs.len();
        let reported = self.shared.len();
        // Two are swept at a time, and written at the end, be it for nothing.
        let room = nearby + 1;
        if self.pairs.try_reserve(room).is_err() {
            self.memory = Err(out_of_memory::<Collision>(begin + room, "the pairs found"));
            return;
        }
        self.pairs.resize(begin + room, Collision::default());
        // What is swept past the end has to be some proxy.
        self.near[0][nearby] = 0;
        self.near[1][nearby] = 0;
        let mut hits = 0;
        for block in (0..nearby).step_by(AHEAD) {
            let end = nearby.min(block + AHEAD);
            let World { sorted, .. } = self.world;
            // So that the processor waits for all of them at once.
            let ahead = self.near[1][block..end].iter();
            let ahead = ahead.map(|&other| sorted.proxies[other as usize].sphere);
            std::hint::black_box(ahead.fold(0, |all, bits| all ^ bits));
            for first in (block..end).step_by(2) {
                let there = if first + 1 < end { 3 } else { 1 };
                hits = self.sweep_two(first, there, begin, hits);
            }
        }
        if self.asks_whose() {
            hits = self.keep_own(begin, hits);
        }
        self.pairs.truncate(begin + hits);
        let more = [hits, self.shared.len() - reported];
        if self.so_far.is_too_much(more, self.most) {
            // There will be no list.
            self.pairs.clear();
            self.shared.clear();
        }
    }

    /// Sweeps two pairs, or the first of them, and adds those that touch to the `hits`
    /// that there are already from `begin` on. Returns how many there are then.
    #[inline(always)]
    fn sweep_two(&mut self, first: usize, there: usize, begin: usize, mut hits: usize) -> usize {
        let World { sorted, given, .. } = self.world;
        let b_offset = given.sets.b_offset() as u32;
        let pair = |k| [self.near[0][k], self.near[1][k]];
        let near = two([first, first + 1], pair);
        let proxy = |place: u32| &sorted.proxies[place as usize];
        let proxies = two(near, |near| two(near, proxy));
        let mut swept = sweep(proxies, given.dt);
        if swept.misses == 3 {
            return hits;
        }
        let just = swept.just & there;
        if just != 0 {
            if self.asks_whose() {
                // Those that are others' are not counted.
                swept.hits &= !just;
            } else {
                self.counts.grazing.all += u64::from(just.count_ones());
            }
        }
        let mut open = !(swept.hits | swept.misses) & there;
        while open != 0 {
            let lane = open.trailing_zeros() as usize % 2;
            open &= open - 1;
            if let Some(impact) = self.decide(near[lane], swept.grazing >> lane & 1 == 1) {
                swept.impacts[lane] = impact;
                swept.hits |= 1 << lane;
            }
        }
        // Writes both without a branch for each, which would be guessed wrong often.
        for lane in 0..2 {
            let [a, b] = two(proxies[lane], |proxy| proxy.sphere);
            let Impact { toi, depth } = swept.impacts[lane];
            self.pairs[begin + hits] = Collision {
                a: a.min(b),
                b: a.max(b).wrapping_sub(b_offset),
                toi,
                depth,
            };
            self.near[0][hits] = near[lane][0];
            self.near[1][hits] = near[lane][1];
            hits += swept.hits >> lane & there >> lane & 1;
        }
        hits
    }

    /// Decides a pair for which that was not enough, if it is these proxies'.
    #[cold]
    #[inline(never)]
    fn decide(&mut self, near: [u32; 2], grazing: bool) -> Option<Impact> {
        if !self.is_own(near) {
            return None;
        }
        let World { sorted, given, .. } = self.world;
        let [one, other] = near.map(|place| &sorted.proxies[place as usize]);
        let (impact, by) = impact(one, other, given.dt);
        if grazing {
            self.counts.grazing.count(by);
        }
        impact
    }

    /// Whether some pairs are not for the proxies that meet to report.
    #[inline(always)]
    fn asks_whose(&self) -> bool {
        self.world.groups || self.world.cut
    }

    /// Of the pairs that touch, from `begin` on, keeps those that are these proxies'.
    fn keep_own(&mut self, begin: usize, hits: usize) -> usize {
        let mut kept = 0;
        for hit in 0..hits {
            if self.is_own([self.near[0][hit], self.near[1][hit]]) {
                self.pairs[begin + kept] = self.pairs[begin + hit];
                kept += 1;
            }
        }
        kept
    }

    /// Whether a pair counts, and is for these two proxies to report.
    #[inline(always)]
    fn is_own(&mut self, near: [u32; 2]) -> bool {
        let World { sorted, given, .. } = self.world;
        let places = two(near, |place| place as usize);
        let [a, b] = two(places, |place| sorted.proxies[place].sphere);
        if self.world.groups && given.spheres[a as usize].ignores(&given.spheres[b as usize]) {
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
        let scale = self.world.scale;
        let spheres = two(places, |place| scale.sphere(&sorted.proxies[place]));
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
