//! Sorting in two passes, each of which stays in the cache: first every chunk of the items is
//! sorted by bucket, which is some high bits of the key, and then, in `scatter` and `list`,
//! every bucket by the rest of the key. Chunks and buckets are independent of one another, so
//! all cores can work without atomics, and the order does not depend on which core does which.

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

/// What the memory is for, in an error.
const WHAT: &str = "the buckets to sort by";
/// Most buckets: as many as can be written to in turn from the first cache.
pub(crate) const MAX_BUCKETS: usize = 512;
/// Items per bucket, while there are fewer buckets than that.
const ITEMS_PER_BUCKET: usize = 2048;

/// Items in buckets by the high bits of a key, a number below `range`.
#[derive(Debug)]
pub(crate) struct Buckets<T> {
    chunks: Vec<Chunk<T>>,
    /// Chunks in use.
    used: usize,
    /// Where each bucket would end, were they one behind the other.
    ends: ReusedVec<usize>,
    /// Number of buckets.
    pub(crate) count: usize,
    /// Low bits of a key, which do not tell its bucket.
    shift: u32,
    range: usize,
    /// The items of a chunk before they are sorted.
    unsorted: ScratchPool<T>,
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
        // Room for as many buckets as there may be, for their number changes.
        let ends = &mut self.ends.enough(MAX_BUCKETS, WHAT)?[..count];
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
    /// Fills `chunks` chunks anew: `make` writes the items of one, and `key` tells the key of
    /// an item, a number below `range`. About `items` items are expected.
    pub(crate) fn fill(
        &mut self,
        chunks: usize,
        range: usize,
        items: usize,
        make: impl Fn(usize, &mut Vec<T>) -> Result<(), Error> + Sync,
        key: impl Fn(&T) -> u32 + Sync,
    ) -> Result<(), Error> {
        let buckets = (items / ITEMS_PER_BUCKET).clamp(1, MAX_BUCKETS);
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
                    chunk.sort(unsorted, count, |item| (key(item) >> shift) as usize)
                },
            )?;
        self.ends.refill(repeat_n(0, count));
        self.add_ends(0..chunks);
        Ok(())
    }

    /// Adds some more items, as a chunk of their own.
    pub(crate) fn add(&mut self, items: &[T], key: impl Fn(&T) -> u32) -> Result<(), Error> {
        let bucket = |item: &T| (key(item) >> self.shift) as usize;
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

    /// The keys of some buckets.
    pub(crate) fn range(&self, buckets: Range<usize>) -> Range<usize> {
        let [begin, end] = [buckets.start, buckets.end].map(|bucket| bucket << self.shift);
        begin..end.min(self.range)
    }

    /// Number of items in some buckets.
    pub(crate) fn len(&self, buckets: Range<usize>) -> usize {
        let begin = |bucket: usize| bucket.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin(buckets.end) - begin(buckets.start)
    }

    /// Number of chunks.
    pub(crate) fn chunks(&self) -> usize {
        self.used
    }

    /// Number of chunks that a bucket has items of, on average over the buckets that have any.
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

    /// Bytes of memory kept.
    pub(crate) fn bytes(&self) -> usize {
        let of_chunk = |chunk: &Chunk<T>| chunk.items.bytes() + chunk.ends.bytes();
        self.chunks.iter().map(of_chunk).sum::<usize>() + self.ends.bytes() + self.unsorted.bytes()
    }
}
