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
const AHEAD: usize = 32;

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
    let tasks = list.par_chunks_mut(TASK).zip(found.items.par_chunks(TASK));
    let images = &*images;
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
    let counts = counts.reduce(WideCounts::default, WideCounts::plus);
    // Removing misses takes a pass of one thread over the whole list.
    if counts.misses > 0 {
        pairs.retain(|pair, _| pair.a != NONE);
    }
    Ok(counts.grazing)
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
        let mut spheres = [[WideSphere::default(); 2]; AHEAD];
        for (spheres, found) in spheres.iter_mut().zip(found) {
            *spheres = [first[found.a as usize], second[found.b as usize]];
        }
        let pair = |lane: usize| WidePair {
            a: &spheres[lane][0],
            b: &spheres[lane][1],
            image: images.map(|images| images[lane]),
        };
        for one in (0..found.len()).step_by(2) {
            // The last pair may be alone. It is then tested twice.
            let lanes = [one, (one + 1).min(found.len() - 1)];
            let both = lanes.map(pair);
            let swept = all.sweep(both.each_ref());
            for (lane, &k) in lanes.iter().enumerate() {
                let has = |lanes: usize| lanes >> lane & 1 == 1;
                let mut hit = has(swept.hits).then_some(swept.impacts[lane]);
                if lane == 1 && k == one {
                    continue;
                }
                if !has(swept.hits | swept.misses) {
                    let arithmetic;
                    (hit, arithmetic) = all.decide(&both[lane], swept.impacts[lane]);
                    counts.grazing.count(arithmetic);
                }
                counts.misses += usize::from(hit.is_none());
                let [toi, depth] = hit.unwrap_or_default();
                pairs[k] = Collision64 {
                    a: if hit.is_some() { found[k].a } else { NONE },
                    b: found[k].b,
                    toi,
                    depth,
                };
            }
        }
    }
}
