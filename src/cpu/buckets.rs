//! Sorts in two passes that stay in the cache. The first pass sorts each chunk of the input into
//! buckets by the high bits of the keys. The second pass (in `scatter` and `list`) sorts each
//! bucket. Threads need no atomics, because chunks and buckets are independent.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies and slots, and all other numbers are smaller"
)]

use std::iter::repeat_n;
use std::ops::Range;

use bytemuck::Zeroable;
use rayon::prelude::*;

use super::scan::places;
use crate::Error;
use crate::memory::{push, reserve};
use crate::reuse::{ReusedVec, ScratchPool};

const WHAT: &str = "the buckets to sort by";
/// The sort writes to all buckets in turn, so one cache line of each has to fit in the L1 cache.
pub(crate) const MAX_BUCKETS: usize = 512;
const ITEMS_PER_BUCKET: usize = 2048;

/// Items sorted into buckets by the high bits of their keys.
#[derive(Debug)]
pub(crate) struct Buckets<T> {
    chunks: Vec<BucketChunk<T>>,
    used: usize,
    ends: ReusedVec<usize>,
    pub(crate) count: usize,
    shift: u32,
    range: usize,
    unsorted: ScratchPool<T>,
}

#[derive(Debug)]
struct BucketChunk<T> {
    items: ReusedVec<T>,
    ends: ReusedVec<u32>,
}

impl<T> Default for BucketChunk<T> {
    fn default() -> Self {
        Self {
            items: ReusedVec::default(),
            ends: ReusedVec::default(),
        }
    }
}

impl<T: Copy + Zeroable> BucketChunk<T> {
    fn sort(
        &mut self,
        unsorted: &[T],
        count: usize,
        bucket: impl Fn(&T) -> usize,
    ) -> Result<(), Error> {
        // A later step with more buckets need not allocate.
        let ends = &mut self.ends.enough(MAX_BUCKETS, WHAT)?[..count];
        let items = self.items.enough(unsorted.len(), WHAT)?;
        if count == 1 {
            items.copy_from_slice(unsorted);
            ends[0] = unsorted.len() as u32;
            return Ok(());
        }
        let bucket = |item: &&T| bucket(item);
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
    /// Replaces all items. `make` writes each of the `chunks` chunks. The number of buckets
    /// follows from `items`, the approximate number of items.
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
            let missing = chunks - self.chunks.len();
            reserve(&mut self.chunks, missing, WHAT)?;
            self.chunks.resize_with(chunks, BucketChunk::default);
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
        reserve(self.ends.empty(), count, WHAT)?;
        self.ends.extend(repeat_n(0, count));
        self.add_ends(0..chunks);
        Ok(())
    }

    pub(crate) fn add(&mut self, items: &[T], key: impl Fn(&T) -> u32) -> Result<(), Error> {
        let bucket = |item: &T| (key(item) >> self.shift) as usize;
        if self.chunks.len() == self.used {
            push(&mut self.chunks, BucketChunk::default(), WHAT)?;
        }
        self.chunks[self.used].sort(items, self.count, bucket)?;
        self.used += 1;
        self.add_ends(self.used - 1..self.used);
        Ok(())
    }

    fn add_ends(&mut self, chunks: Range<usize>) {
        for chunk in &self.chunks[chunks] {
            for (all, end) in self.ends.iter_mut().zip(&*chunk.ends) {
                *all += *end as usize;
            }
        }
    }

    pub(crate) fn range(&self, buckets: Range<usize>) -> Range<usize> {
        let [begin, end] = [buckets.start, buckets.end].map(|bucket| bucket << self.shift);
        begin..end.min(self.range)
    }

    pub(crate) fn len(&self, buckets: Range<usize>) -> usize {
        let begin = |bucket: usize| bucket.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin(buckets.end) - begin(buckets.start)
    }

    pub(crate) fn chunks(&self) -> usize {
        self.used
    }

    pub(crate) fn chunks_a_bucket(&self) -> usize {
        let buckets = || 0..self.count;
        let used = buckets().filter(|&bucket| self.len(bucket..bucket + 1) > 0);
        let pieces_of = |chunk: &BucketChunk<T>| {
            let pieces = buckets().filter(|&bucket| !chunk.range(bucket).is_empty());
            pieces.count()
        };
        let pieces: usize = self.chunks[..self.used].iter().map(pieces_of).sum();
        pieces / used.count().max(1)
    }

    pub(crate) fn items_of(&self, chunk: usize, bucket: usize) -> &[T] {
        let chunk = &self.chunks[chunk];
        &chunk.items[chunk.range(bucket)]
    }

    pub(crate) fn items(&self, bucket: usize) -> impl Iterator<Item = &T> + Clone {
        self.chunks[..self.used]
            .iter()
            .flat_map(move |chunk| &chunk.items[chunk.range(bucket)])
    }

    pub(crate) fn bytes(&self) -> usize {
        let of_chunk = |chunk: &BucketChunk<T>| chunk.items.bytes() + chunk.ends.bytes();
        self.chunks.iter().map(of_chunk).sum::<usize>() + self.ends.bytes() + self.unsorted.bytes()
    }
}
