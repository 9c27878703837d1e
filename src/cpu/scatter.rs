//! `scatter`: the proxies in the order of their slots, in the form in which
//! `pairs` reads them.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies and slots, and everything else is less"
)]

use std::array::from_fn;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use arrayvec::ArrayVec;
use rayon::prelude::*;

use super::balls::{Ball, Balls};
use super::bin::Binned;
use super::buckets::{Buckets, MOST, for_each_part, take};
use super::scan::places;
use super::sorted_sphere::SortedSphere;
use crate::lanes::LANES;
use crate::limits::CHUNK;
use crate::reuse::{ReusedVec, ScratchPool};
use crate::shared::moving_sphere::MovingSphere;
use crate::shared::segments::{Cut, Frame};
use crate::shared::units::Scale;
use crate::{Error, Sphere};

/// The sorted proxies.
#[derive(Debug, Default)]
pub(crate) struct SortedProxies {
    /// Where each slot begins, and at the end where the last one ends.
    pub(crate) starts: ReusedVec<u32>,
    /// What the swept test reads, in the caller's units.
    pub(crate) proxies: ReusedVec<SortedSphere>,
    /// What the test before it reads: LANES to a block.
    pub(crate) balls: ReusedVec<Balls>,
    /// Level and segment, as binned.
    pub(crate) tags: ReusedVec<u32>,
    /// Their slots.
    pub(crate) slots: ReusedVec<u32>,
    /// For the proxies of a bucket, in order: where each is read from, its sphere and tag.
    orders: ScratchPool<[u32; 3]>,
    /// Those of a bucket as they were brought to it.
    unsorted: ScratchPool<SortedSphere>,
}

/// Spheres that are asked for before they are worked on: as many as the first cache
/// holds with ease.
const AHEAD: usize = 128;

/// From so many chunks the spheres of a bucket may be, on average, and most still be in the
/// cache: of a world that is small, or whose spheres lie in memory as they lie in space.
const FEW: usize = 16;

/// What some buckets' part of it is.
struct Part<'a> {
    /// How many proxies come before it.
    before: u32,
    ends: &'a mut [u32],
    proxies: &'a mut [SortedSphere],
    tags: &'a mut [u32],
    slots: &'a mut [u32],
}

impl<'a> Part<'a> {
    /// Splits off what is for some buckets.
    fn take(&mut self, buckets: Range<usize>, binned: &Buckets<Binned>) -> Part<'a> {
        let count = binned.len(buckets.clone());
        let part = Part {
            before: self.before,
            ends: take(&mut self.ends, binned.range(buckets).len()),
            proxies: take(&mut self.proxies, count),
            tags: take(&mut self.tags, count),
            slots: take(&mut self.slots, count),
        };
        self.before += count as u32;
        part
    }

    /// Writes the sorted spheres and tags. `order` tells for each where in `source` it is
    /// read from, its sphere and its tag.
    fn write<S: MovingSphere>(&mut self, source: &[S], order: &[[u32; 3]]) {
        for (block, order) in order.chunks(AHEAD).enumerate() {
            // From anywhere in the source. Asking for both ends of many spheres before working
            // on any, the processor waits for all of them at once.
            let ahead = order.iter().map(|[from, ..]| {
                let sphere = &source[*from as usize];
                sphere.center()[0].to_bits() ^ sphere.velocity()[2].to_bits()
            });
            std::hint::black_box(ahead.fold(0, |all, bits| all ^ bits));
            for (k, &[from, sphere, tag]) in (block * AHEAD..).zip(order) {
                self.tags[k] = tag;
                self.proxies[k] = SortedSphere::new(&source[from as usize], sphere);
            }
        }
    }
}

/// Brings the proxies of some chunks to their buckets, in the order in which they are binned:
/// a chunk's spheres are in the cache together, and a bucket's are from all over memory.
/// `unfilled` is for each bucket what is for them and maybe later ones; at most `piece` chunks
/// are for one thread to do.
fn bring_to_buckets(
    spheres: &[Sphere],
    binned: &Buckets<Binned>,
    chunks: Range<usize>,
    piece: usize,
    unfilled: &mut [&mut [SortedSphere]],
) {
    if chunks.len() > piece {
        let middle = chunks.start.midpoint(chunks.end);
        let [before, after] = [chunks.start..middle, middle..chunks.end];
        // Here and by reference, as there is not much of a stack in some pools.
        let mut first = ArrayVec::<_, MOST>::new();
        for (bucket, part) in unfilled.iter_mut().enumerate() {
            let chunks = before.clone();
            let counts = chunks.map(|chunk| binned.items_of(chunk, bucket).len());
            first.push(take(part, counts.sum()));
        }
        rayon::join(
            || bring_to_buckets(spheres, binned, before, piece, &mut first),
            || bring_to_buckets(spheres, binned, after, piece, unfilled),
        );
        return;
    }
    for chunk in chunks {
        // Asked for in the order in which they lie, which the processor foresees.
        let [begin, end] = [chunk, chunk + 1].map(|chunk| spheres.len().min(chunk * CHUNK));
        let ahead = spheres[begin..end].iter().step_by(2);
        std::hint::black_box(ahead.fold(0, |all, sphere| all ^ sphere.groups));
        for (bucket, part) in unfilled.iter_mut().enumerate() {
            let items = binned.items_of(chunk, bucket);
            for (proxy, &Binned { sphere, .. }) in take(part, items.len()).iter_mut().zip(items) {
                *proxy = SortedSphere::new(&spheres[sphere as usize], sphere);
            }
        }
    }
}

impl SortedProxies {
    /// Sorts the proxies by slot. Returns how many are in the slot that has most.
    pub(crate) fn fill(
        &mut self,
        spheres: &[Sphere],
        scale: &Scale,
        frame: &Frame,
        slots: usize,
        proxies: usize,
        binned: &Buckets<Binned>,
    ) -> Result<u32, Error> {
        let mut starts = self.starts.enough(slots + 1, "the slot table")?;
        let sorted = self.proxies.enough(proxies, "the sorted proxies")?;
        let scattered = binned.chunks_a_bucket() > FEW;
        if scattered {
            let mut rest = &mut *sorted;
            let of_bucket = |bucket| take(&mut rest, binned.len(bucket..bucket + 1));
            let mut unfilled: ArrayVec<_, MOST> = (0..binned.count).map(of_bucket).collect();
            let chunks = 0..binned.chunks();
            let piece = chunks.len().div_ceil(4 * rayon::current_num_threads());
            bring_to_buckets(spheres, binned, chunks, piece, &mut unfilled);
        }
        // Each slot begins where the one before it ends.
        take(&mut starts, 1)[0] = 0;
        let all = Part {
            before: 0,
            ends: starts,
            proxies: sorted,
            tags: self.tags.enough(proxies, "the segments of the proxies")?,
            slots: self.slots.enough(proxies, "the slots of the proxies")?,
        };
        let fullest = AtomicU32::new(0);
        let take = |all: &mut _, buckets| Part::take(all, buckets, binned);
        for_each_part(0..binned.count, all, take, |bucket, mut part| {
            let mut order = self.orders.take();
            let order = order.enough(part.proxies.len(), "the order of the proxies")?;
            let brought = if scattered { part.proxies.len() } else { 0 };
            let mut unsorted = self.unsorted.take();
            let unsorted = unsorted.enough(brought, "the proxies to sort")?;
            unsorted.copy_from_slice(&part.proxies[..brought]);
            let mut number = 0;
            let first_slot = binned.range(bucket..bucket + 1).start as u32;
            let most = places(
                binned.items(bucket),
                part.ends,
                part.before,
                |binned| (binned.slot - first_slot) as usize,
                |place, &Binned { slot, sphere, tag }| {
                    let place = place - part.before as usize;
                    let from = if scattered { number } else { sphere };
                    number += 1;
                    order[place] = [from, sphere, tag];
                    part.slots[place] = slot;
                },
            );
            if scattered {
                part.write(unsorted, order);
            } else {
                part.write(spheres, order);
            }
            fullest.fetch_max(most, Relaxed);
            Ok(())
        })?;
        let blocks = proxies.div_ceil(LANES);
        self.balls
            .enough(blocks, "the balls around the spheres")?
            .par_iter_mut()
            .zip(self.proxies[..proxies].par_chunks(LANES))
            .zip(self.tags[..proxies].par_chunks(LANES))
            .with_min_len(CHUNK / LANES)
            .for_each(|((balls, proxies), tags)| {
                // The last block may have fewer; it does not matter what it holds more.
                let lane = |lane: usize| lane.min(proxies.len() - 1);
                let given = from_fn(|k| &proxies[lane(k)]);
                let paths = scale.paths(given, frame);
                *balls = Balls::new(&paths, from_fn(|k| Cut::of_tag(tags[lane(k)])));
            });
        Ok(fullest.into_inner())
    }

    /// The ball of one.
    pub(crate) fn ball(&self, index: usize) -> Ball {
        self.balls[index / LANES].get(index % LANES)
    }

    /// Bytes that are kept.
    pub(crate) fn bytes(&self) -> usize {
        self.starts.bytes()
            + self.proxies.bytes()
            + self.balls.bytes()
            + self.tags.bytes()
            + self.slots.bytes()
            + self.orders.bytes()
            + self.unsorted.bytes()
    }
}
