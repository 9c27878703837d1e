//! `scatter`: the proxies in the order of their slots, in the form in which
//! `pairs` reads them.

use std::array::from_fn;

use arrayvec::ArrayVec;
use rayon::prelude::*;

use super::CHUNK;
use super::bin::Binned;
use super::buckets::{Buckets, MOST_PARTS, take};
use super::scan::places;
use crate::ball::{Ball, Balls};
use crate::grid::{SortedProxy, cut_of};
use crate::memory::{Kept, Piece, Scratch};
use crate::number::LANES;
use crate::segments::Frame;
use crate::units::Scale;
use crate::{Error, Sphere};

/// The sorted proxies.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    /// Where each slot begins, and at the end where the last one ends.
    pub(crate) starts: Kept<u32>,
    /// What the swept test reads, in the caller's units.
    pub(crate) proxies: Kept<SortedProxy>,
    /// What the test before it reads: LANES to a block.
    pub(crate) balls: Kept<Balls>,
    /// Level and segment, as binned.
    pub(crate) tags: Kept<u32>,
    /// Their slots.
    pub(crate) slots: Kept<u32>,
    /// For the proxies of a bucket: spheres and tags, in order.
    orders: Scratch<[u32; 2]>,
}

/// Spheres that are asked for before they are worked on: as many as the first cache
/// holds with ease.
const AHEAD: usize = 128;

/// One bucket's part of it.
struct Part<'a> {
    bucket: usize,
    /// How many proxies come before it.
    before: u32,
    ends: &'a mut [u32],
    proxies: &'a mut [SortedProxy],
    tags: &'a mut [u32],
    slots: &'a mut [u32],
}

impl Sorted {
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
        // Each slot begins where the one before it ends.
        take(&mut starts, 1)[0] = 0;
        let mut records = self.proxies.enough(proxies, "the sorted proxies")?;
        let mut tags = self.tags.enough(proxies, "the segments of the proxies")?;
        let mut slots_of = self.slots.enough(proxies, "the slots of the proxies")?;
        let blocks = proxies.div_ceil(LANES);
        let balls = self.balls.enough(blocks, "the balls around the spheres")?;
        let mut before = 0;
        let mut parts = ArrayVec::<_, MOST_PARTS>::new();
        for bucket in 0..binned.count {
            let count = binned.len(bucket);
            parts.push(Part {
                bucket,
                before,
                ends: take(&mut starts, binned.range(bucket).len()),
                proxies: take(&mut records, count),
                tags: take(&mut tags, count),
                slots: take(&mut slots_of, count),
            });
            before += count as u32;
        }
        let place = |order: &mut Piece<'_, [u32; 2]>, part: &mut Part<'_>| {
            let order = order.enough(part.proxies.len(), "the order of the proxies")?;
            let first_slot = binned.range(part.bucket).start as u32;
            let fullest = places(
                binned.items(part.bucket),
                part.ends,
                part.before,
                |binned| (binned.slot - first_slot) as usize,
                |place, &Binned { slot, sphere, tag }| {
                    let place = place - part.before as usize;
                    order[place] = [sphere, tag];
                    part.slots[place] = slot;
                },
            );
            for (block, order) in order.chunks(AHEAD).enumerate() {
                // From all over memory. Asking for both ends of many before working on
                // any, the processor waits for all of them at once.
                let ahead = order.iter().map(|[sphere, _]| {
                    let Sphere { center, groups, .. } = spheres[*sphere as usize];
                    center[0].to_bits() ^ groups
                });
                std::hint::black_box(ahead.fold(0, |all, bits| all ^ bits));
                for (k, &[sphere, tag]) in (block * AHEAD..).zip(order) {
                    part.tags[k] = tag;
                    part.proxies[k] = SortedProxy::new(&spheres[sphere as usize], sphere);
                }
            }
            Ok(fullest)
        };
        let fullest = parts
            .par_iter_mut()
            .map_init(|| self.orders.take(), place)
            .try_reduce(|| 0, |one, other| Ok(one.max(other)))?;
        drop(parts);
        balls
            .par_iter_mut()
            .zip(self.proxies[..proxies].par_chunks(LANES))
            .zip(self.tags[..proxies].par_chunks(LANES))
            .with_min_len(CHUNK / LANES)
            .for_each(|((balls, proxies), tags)| {
                // The last block may have fewer; it does not matter what it holds more.
                let lane = |lane: usize| lane.min(proxies.len() - 1);
                let given = from_fn(|k| proxies[lane(k)].sphere());
                let motions = scale.motions(given, frame);
                *balls = Balls::new(&motions, from_fn(|k| cut_of(tags[lane(k)])));
            });
        Ok(fullest)
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
    }
}
