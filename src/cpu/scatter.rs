//! Sorts the proxies by slot. Twin of `shaders/collide/scatter.wgsl`.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies and slots, and all other numbers are smaller"
)]

use std::array::from_fn;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::balls::Balls;
use super::bin::Binned;
use super::bring::bring_to_buckets;
use super::buckets::Buckets;
use super::images::ProxySpace;
use super::parts::{for_each_part, take};
use super::scan::places;
use super::sorted_proxies::SortedProxies;
use super::sorted_sphere::SortedSphere;
use crate::lanes::LANES;
use crate::limits::CHUNK;
use crate::reuse::ReusedVec;
use crate::shared::moving_sphere::MovingSphere;
use crate::shared::segments::{Cut, Frame};
use crate::shared::units::Scale;
use crate::{Error, Sphere};

/// If a bucket takes its spheres from more input chunks on average, all are copied to their
/// buckets before the sort. Otherwise, most are still in the cache.
const FEW_CHUNKS: usize = 16;

pub(crate) fn scatter(
    spheres: &[Sphere],
    scale: &Scale,
    frame: &Frame,
    space: impl ProxySpace,
    slots: usize,
    binned: &Buckets<Binned>,
    sorted: &mut SortedProxies,
) -> Result<u32, Error> {
    let proxies = binned.len(0..binned.count);
    let mut starts = sorted.starts.enough(slots + 1, "the slot table")?;
    let in_order = sorted.spheres.enough(proxies, "the sorted proxies")?;
    let scattered = binned.chunks_a_bucket() > FEW_CHUNKS;
    if scattered {
        bring_to_buckets(spheres, space, binned, in_order);
    }
    // A range begins where the one before it ends, the first at 0.
    take(&mut starts, 1)[0] = 0;
    let all = BucketPart {
        before: 0,
        ends: starts,
        spheres: in_order,
        tags: sorted.tags.enough(proxies, "the tags of the proxies")?,
        slots: sorted.slots.enough(proxies, "the slots of the proxies")?,
    };
    let fullest = AtomicU32::new(0);
    let take = |all: &mut _, buckets| BucketPart::take(all, buckets, binned);
    for_each_part(0..binned.count, all, take, |bucket, mut part| {
        let mut order = sorted.orders.take();
        let order = order.enough(part.spheres.len(), "the order of the proxies")?;
        let most = part.sort(bucket, space, binned, scattered, order);
        let brought = if scattered { part.spheres.len() } else { 0 };
        let mut unsorted = sorted.unsorted.take();
        let unsorted = unsorted.enough(brought, "the proxies to sort")?;
        if scattered {
            unsorted.copy_from_slice(part.spheres);
            part.write(unsorted, order);
        } else {
            part.write(spheres, order);
        }
        fullest.fetch_max(most, Relaxed);
        Ok(())
    })?;
    let (spheres, tags) = (&sorted.spheres[..proxies], &sorted.tags[..proxies]);
    fill_balls(spheres, tags, scale, frame, space, &mut sorted.balls)?;
    Ok(fullest.into_inner())
}

struct BucketPart<'a> {
    before: u32,
    ends: &'a mut [u32],
    spheres: &'a mut [SortedSphere],
    tags: &'a mut [u32],
    slots: &'a mut [u32],
}

impl<'a> BucketPart<'a> {
    fn take(&mut self, buckets: Range<usize>, binned: &Buckets<Binned>) -> BucketPart<'a> {
        let count = binned.len(buckets.clone());
        let part = BucketPart {
            before: self.before,
            ends: take(&mut self.ends, binned.range(buckets).len()),
            spheres: take(&mut self.spheres, count),
            tags: take(&mut self.tags, count),
            slots: take(&mut self.slots, count),
        };
        self.before += count as u32;
        part
    }

    /// Sorts the proxies of a bucket by slot. Returns the number in the fullest slot.
    /// Writes the end of each slot and the slot of each proxy.
    ///
    /// For each sorted proxy, `order` gets the index of its sphere, its word and its tag.
    /// If `brought`, the index is a position in the list of the bucket, otherwise in the
    /// input.
    fn sort(
        &mut self,
        bucket: usize,
        space: impl ProxySpace,
        binned: &Buckets<Binned>,
        brought: bool,
        order: &mut [[u32; 3]],
    ) -> u32 {
        let mut number = 0;
        let first_slot = binned.range(bucket..bucket + 1).start as u32;
        places(
            binned.items(bucket),
            self.ends,
            self.before,
            |binned| (binned.slot - first_slot) as usize,
            |place, &Binned { slot, word, tag }| {
                let place = place - self.before as usize;
                let from = if brought { number } else { space.sphere(word) };
                number += 1;
                order[place] = [from, word, tag];
                self.slots[place] = slot;
            },
        )
    }

    /// `order` is as [`sort`](Self::sort) writes it, with indices in `source`.
    fn write<S: MovingSphere>(&mut self, source: &[S], order: &[[u32; 3]]) {
        let targets = self.tags.iter_mut().zip(&mut *self.spheres);
        for ((own_tag, own_sphere), &[from, word, tag]) in targets.zip(order) {
            *own_tag = tag;
            *own_sphere = SortedSphere::new(&source[from as usize], word);
        }
    }
}

fn fill_balls(
    spheres: &[SortedSphere],
    tags: &[u32],
    scale: &Scale,
    frame: &Frame,
    space: impl ProxySpace,
    balls: &mut ReusedVec<Balls>,
) -> Result<(), Error> {
    let blocks = spheres.len().div_ceil(LANES);
    balls
        .enough(blocks, "the bounding spheres of the proxies")?
        .par_iter_mut()
        .zip(spheres.par_chunks(LANES))
        .zip(tags.par_chunks(LANES))
        .with_min_len(CHUNK / LANES)
        .for_each(|((balls, spheres), tags)| {
            let lane = |lane: usize| lane.min(spheres.len() - 1);
            let words = from_fn(|k| spheres[lane(k)].word);
            let paths = space.paths(scale, frame, from_fn(|k| &spheres[lane(k)]), words);
            *balls = Balls::new(&paths, from_fn(|k| Cut::of_tag(tags[lane(k)])));
        });
    Ok(())
}
