//! Tests the pairs of the enclosing spheres with the float64 numbers.

use rayon::prelude::*;

use super::WideSphere;
use super::enclose::Enclosed;
use super::pair::{WidePair, WidePairs};
use crate::exact::Grazing;
use crate::memory::{LIST, resized};
use crate::{Collision, Collision64, Error, Hits};

/// Number of pairs that a task tests. It is even, because pairs are tested two at a time.
const TASK: usize = 4096;
/// Index of a sphere in the place of a pair that does not touch.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Default)]
struct WideCounts {
    grazing: Grazing,
    misses: usize,
}

impl WideCounts {
    fn plus(self, other: Self) -> Self {
        Self {
            grazing: self.grazing.plus(other.grazing),
            misses: self.misses + other.misses,
        }
    }
}

impl Enclosed<'_> {
    pub(crate) fn pairs(&self) -> WidePairs<'_> {
        WidePairs {
            domain: &self.domain,
            scale: self.scale,
            dt: self.dt,
            depths: self.is_moderate.then(|| 1.0 / self.scale.length),
        }
    }

    /// Returns the pair of two given spheres, by their indices in a list of collisions.
    pub(crate) fn pair(&self, [a, b]: [u32; 2], image: Option<[i32; 3]>) -> WidePair<'_> {
        let [first, second] = self.sets();
        WidePair {
            a: &first[a as usize],
            b: &second[b as usize],
            image,
        }
    }

    fn sets(&self) -> [&[WideSphere]; 2] {
        let [first, second] = self.given;
        if self.step.sets.are_two() {
            [first, second]
        } else {
            [first; 2]
        }
    }

    /// Converts the images of pairs of enclosing spheres to those of the pairs of given spheres.
    pub(crate) fn name_images(&self, found: &mut Hits<Collision>) {
        let Some(cell) = &self.cell else { return };
        let Hits { items, images } = found;
        let (b_offset, one_set) = (self.step.sets.b_offset(), !self.step.sets.are_two());
        let chunks = images.par_chunks_mut(TASK).zip(items.par_chunks(TASK));
        chunks.for_each(|(images, items)| {
            for (image, pair) in images.iter_mut().zip(items) {
                let of_a = self.wraps[pair.a as usize];
                let of_b = self.wraps[pair.b as usize + b_offset];
                let given = cell.in_given_edges(*image);
                *image = [0, 1, 2].map(|k| given[k] + of_b[k] - of_a[k]);
                // Of a sphere and its own image, the list has the image whose first component that is not 0 is positive.
                if one_set && pair.a == pair.b && *image < [0; 3] {
                    *image = image.map(|n| -n);
                }
            }
        });
        if cell.is_plain() {
            return;
        }
        // With other edges, the images of two spheres have another order.
        let mut begin = 0;
        for same in items.chunk_by(|one, next| (one.a, one.b) == (next.a, next.b)) {
            images[begin..begin + same.len()].sort_unstable();
            begin += same.len();
        }
    }
}

/// Number of pairs whose spheres are read together, so that the cache misses overlap.
const AHEAD: usize = 64;

/// Decides exactly which of the enclosing pairs `found` touch, and fills `pairs` with these, in their order. Leaves the
/// memory of old images to `found`.
pub(crate) fn decide(
    enclosed: &Enclosed<'_>,
    found: &mut Hits<Collision>,
    pairs: &mut Hits<Collision64>,
) -> Result<Grazing, Error> {
    enclosed.name_images(found);
    std::mem::swap(&mut pairs.images, &mut found.images);
    let Hits { items, images } = pairs;
    let list = resized(items, found.items.len(), LIST)?;
    let mut all = WideCounts::default();
    // Pairs that do not touch are removed part by part, while the part is in the cache.
    let part = TASK * 4 * rayon::current_num_threads();
    let mut kept = 0;
    for begin in (0..list.len()).step_by(part) {
        let end = list.len().min(begin + part);
        let of_part = images.get(begin..end).unwrap_or_default();
        let counts = decide_part(
            enclosed,
            of_part,
            &found.items[begin..end],
            &mut list[begin..end],
        );
        all = all.plus(counts);
        if counts.misses == 0 && kept == begin {
            kept = end;
            continue;
        }
        for k in begin..end {
            list[kept] = list[k];
            if let Some(&image) = images.get(k) {
                images[kept] = image;
            }
            kept += usize::from(list[kept].a != NONE);
        }
    }
    items.truncate(kept);
    images.truncate(kept);
    Ok(all.grazing)
}

fn decide_part(
    enclosed: &Enclosed<'_>,
    images: &[[i32; 3]],
    found: &[Collision],
    pairs: &mut [Collision64],
) -> WideCounts {
    let tasks = pairs.par_chunks_mut(TASK).zip(found.par_chunks(TASK));
    let counts = tasks.enumerate().map(|(task, (pairs, found))| {
        let mut counts = WideCounts::default();
        for (block, (pairs, found)) in pairs.chunks_mut(AHEAD).zip(found.chunks(AHEAD)).enumerate()
        {
            let images = images
                .get(task * TASK + block * AHEAD..)
                .filter(|images| !images.is_empty());
            enclosed.decide_block(images, found, pairs, &mut counts);
        }
        counts
    });
    counts.reduce(WideCounts::default, WideCounts::plus)
}

impl Enclosed<'_> {
    /// Decides up to [`AHEAD`] pairs.
    #[inline(always)]
    fn decide_block(
        &self,
        images: Option<&[[i32; 3]]>,
        found: &[Collision],
        pairs: &mut [Collision64],
        counts: &mut WideCounts,
    ) {
        let all = self.pairs();
        let [first, second] = self.sets();
        let ahead = found.iter();
        let ahead =
            ahead.map(|pair| first[pair.a as usize].groups | second[pair.b as usize].groups);
        std::hint::black_box(ahead.fold(0, |all, groups| all | groups));
        let pair = |k: usize| WidePair {
            a: &first[found[k].a as usize],
            b: &second[found[k].b as usize],
            image: images.map(|images| images[k]),
        };
        let (mut open, mut left) = ([0; AHEAD], 0);
        for one in (0..found.len()).step_by(2) {
            // The last pair may be alone. It is then tested twice.
            let next = (one + 1).min(found.len() - 1);
            let quick = all.quick([&pair(one), &pair(next)], [&found[one], &found[next]]);
            for (lane, k) in [one, next].into_iter().enumerate() {
                pairs[k] = Collision64 {
                    a: found[k].a,
                    b: found[k].b,
                    toi: quick.toi[lane],
                    depth: quick.depth[lane],
                };
                open[left % AHEAD] = k;
                left += usize::from(quick.hits >> lane & 1 == 0 && (lane == 0 || next != one));
            }
        }
        if left > 0 {
            self.decide_open(&open[..left], pair, pairs, counts);
        }
    }

    /// Decides the pairs `open`, by their places in a block.
    #[inline(never)]
    fn decide_open<'a>(
        &self,
        open: &[usize],
        pair: impl Fn(usize) -> WidePair<'a>,
        pairs: &mut [Collision64],
        counts: &mut WideCounts,
    ) {
        let all = self.pairs();
        for lanes in open.chunks(2) {
            let both = [lanes[0], lanes[lanes.len() - 1]].map(&pair);
            let swept = all.sweep(both.each_ref());
            for (lane, &k) in lanes.iter().enumerate() {
                let has = |lanes: usize| lanes >> lane & 1 == 1;
                let mut hit = has(swept.hits).then_some(swept.impacts[lane]);
                if !has(swept.hits | swept.misses) {
                    let arithmetic;
                    (hit, arithmetic) = all.decide(&both[lane], swept.impacts[lane]);
                    counts.grazing.count(arithmetic);
                }
                counts.misses += usize::from(hit.is_none());
                [pairs[k].toi, pairs[k].depth] = hit.unwrap_or_default();
                if hit.is_none() {
                    pairs[k].a = NONE;
                }
            }
        }
    }
}
