//! Sorting in two goes, each of which stays in the cache: first every chunk of the
//! items by bucket, which is some high bits of what they are sorted by, and then,
//! in `scatter` and `list`, every bucket by the rest. In both, chunks and buckets
//! are independent of one another, so all cores can work without atomics, and the
//! order does not depend on which of them does what.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies and slots, and everything else is less"
)]

use std::iter::repeat_n;
use std::ops::Range;

use bytemuck::Zeroable;
use rayon::prelude::*;

use super::scan::places;
use crate::Error;
use crate::reuse::{ReusedVec, ScratchPool};

/// What memory is for, in an error.
const WHAT: &str = "the buckets to sort by";
/// Buckets at most: as many as can be written to in turn from the first cache.
pub(crate) const MOST: usize = 512;
/// Items a bucket, while there are fewer buckets than that.
const ITEMS: usize = 2048;

/// Items in buckets by the high bits of a number below `range`.
#[derive(Debug)]
pub(crate) struct Buckets<T> {
    chunks: Vec<Chunk<T>>,
    /// Chunks in use.
    used: usize,
    /// Where each bucket would end, were they one behind the other.
    ends: ReusedVec<usize>,
    /// Buckets, and the bits of a number that do not tell its bucket.
    pub(crate) count: usize,
    shift: u32,
    range: usize,
    unsorted: ScratchPool<T>,
}

/// Splits off the first so many: a bucket's part of what is sorted.
pub(crate) fn take<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    rest.split_off_mut(..count).unwrap_or_default()
}

/// Does the work on each of some parts, on all threads. What they work in lies one behind
/// the other in `all`, of which `take` splits off what is for the next ones.
pub(crate) fn for_each_part<T: Send>(
    parts: Range<usize>,
    all: T,
    take: impl Fn(&mut T, Range<usize>) -> T + Sync,
    work: impl Fn(usize, T) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let halve = |(parts, mut all): (Range<usize>, T)| {
        let middle = parts.start.midpoint(parts.end);
        if middle == parts.start {
            return ((parts, all), None);
        }
        let first = take(&mut all, parts.start..middle);
        ((parts.start..middle, first), Some((middle..parts.end, all)))
    };
    rayon::iter::split((parts, all), halve).try_for_each(|(mut parts, mut all)| {
        parts.try_for_each(|part| work(part, take(&mut all, part..part + 1)))
    })
}

/// Some of the items, by bucket.
#[derive(Debug)]
struct Chunk<T> {
    items: ReusedVec<T>,
    /// Where each bucket ends.
    ends: ReusedVec<u32>,
}

impl<T> Default for Chunk<T> {
    fn default() -> Self {
        Self {
            items: ReusedVec::default(),
            ends: ReusedVec::default(),
        }
    }
}

impl<T: Copy + Zeroable> Chunk<T> {
    fn sort(
        &mut self,
        unsorted: &[T],
        count: usize,
        bucket: impl Fn(&T) -> usize,
    ) -> Result<(), Error> {
        // For as many as there may be, for they are now more and now fewer.
        let ends = &mut self.ends.enough(MOST, WHAT)?[..count];
        let items = self.items.enough(unsorted.len(), WHAT)?;
        if count == 1 {
            items.copy_from_slice(unsorted);
            ends[0] = unsorted.len() as u32;
            return Ok(());
        }
        places(unsorted.iter(), ends, 0, bucket, |place, item| {
            items[place] = *item;
        });
        Ok(())
    }

    fn range(&self, bucket: usize) -> Range<usize> {
        let begin = bucket.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin as usize..self.ends[bucket] as usize
    }
}

impl<T> Default for Buckets<T> {
    fn default() -> Self {
        Self {
            chunks: Vec::new(),
            used: 0,
            ends: ReusedVec::default(),
            count: 0,
            shift: 0,
            range: 0,
            unsorted: ScratchPool::default(),
        }
    }
}

impl<T: Copy + Zeroable + Send + Sync> Buckets<T> {
    /// Fills `chunks` chunks anew: `make` writes the items of one, and `number`
    /// tells by what an item is sorted, a number below `range`. About `items` items
    /// are expected.
    pub(crate) fn fill(
        &mut self,
        chunks: usize,
        range: usize,
        items: usize,
        make: impl Fn(usize, &mut Vec<T>) -> Result<(), Error> + Sync,
        number: impl Fn(&T) -> u32 + Sync,
    ) -> Result<(), Error> {
        let buckets = (items / ITEMS).clamp(1, MOST);
        self.shift = (range.div_ceil(buckets).max(1)).next_power_of_two().ilog2();
        self.range = range;
        self.count = range.div_ceil(1 << self.shift).max(1);
        self.used = chunks;
        if self.chunks.len() < chunks {
            self.chunks.resize_with(chunks, Chunk::default);
        }
        for unused in &mut self.chunks[chunks..] {
            unused.items.rest();
            unused.ends.rest();
        }
        let (shift, count) = (self.shift, self.count);
        self.chunks[..chunks]
            .par_iter_mut()
            .enumerate()
            .try_for_each_init(
                || self.unsorted.take(),
                |unsorted, (k, chunk)| {
                    make(k, unsorted.empty())?;
                    chunk.sort(unsorted, count, |item| (number(item) >> shift) as usize)
                },
            )?;
        self.ends.refill(repeat_n(0, count));
        self.add_ends(0..chunks);
        Ok(())
    }

    /// Adds some more items, as a chunk of their own.
    pub(crate) fn add(&mut self, items: &[T], number: impl Fn(&T) -> u32) -> Result<(), Error> {
        let bucket = |item: &T| (number(item) >> self.shift) as usize;
        if self.chunks.len() == self.used {
            self.chunks.push(Chunk::default());
        }
        self.chunks[self.used].sort(items, self.count, bucket)?;
        self.used += 1;
        self.add_ends(self.used - 1..self.used);
        Ok(())
    }

    /// Counts the items of some chunks.
    fn add_ends(&mut self, chunks: Range<usize>) {
        for chunk in &self.chunks[chunks] {
            for (all, end) in self.ends.iter_mut().zip(&*chunk.ends) {
                *all += *end as usize;
            }
        }
    }

    /// The numbers that some buckets are for.
    pub(crate) fn range(&self, buckets: Range<usize>) -> Range<usize> {
        let [begin, end] = [buckets.start, buckets.end].map(|bucket| bucket << self.shift);
        begin..end.min(self.range)
    }

    /// How many items some buckets have.
    pub(crate) fn len(&self, buckets: Range<usize>) -> usize {
        let begin = |bucket: usize| bucket.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin(buckets.end) - begin(buckets.start)
    }

    /// How many chunks there are.
    pub(crate) fn chunks(&self) -> usize {
        self.used
    }

    /// From how many chunks the items of a bucket are, on average over those that have any.
    pub(crate) fn chunks_a_bucket(&self) -> usize {
        let buckets = || 0..self.count;
        let used = buckets().filter(|&bucket| self.len(bucket..bucket + 1) > 0);
        let pieces_of = |chunk: &Chunk<T>| {
            let pieces = buckets().filter(|&bucket| !chunk.range(bucket).is_empty());
            pieces.count()
        };
        let pieces: usize = self.chunks[..self.used].iter().map(pieces_of).sum();
        pieces / used.count().max(1)
    }

    /// The items of a bucket that are in one chunk.
    pub(crate) fn items_of(&self, chunk: usize, bucket: usize) -> &[T] {
        let chunk = &self.chunks[chunk];
        &chunk.items[chunk.range(bucket)]
    }

    /// The items of a bucket, in the order in which they came.
    pub(crate) fn items(&self, bucket: usize) -> impl Iterator<Item = &T> + Clone {
        self.chunks[..self.used]
            .iter()
            .flat_map(move |chunk| &chunk.items[chunk.range(bucket)])
    }

    /// Bytes that are kept.
    pub(crate) fn bytes(&self) -> usize {
        let of_chunk = |chunk: &Chunk<T>| chunk.items.bytes() + chunk.ends.bytes();
        self.chunks.iter().map(of_chunk).sum::<usize>() + self.ends.bytes() + self.unsorted.bytes()
    }
}
