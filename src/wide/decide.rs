//! Tests the pairs of the enclosing spheres with the float64 numbers.

use rayon::prelude::*;

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

    fn sets(&self) -> [&[super::WideSphere]; 2] {
        let [first, second] = self.given;
        if self.step.sets.are_two() {
            [first, second]
        } else {
            [first; 2]
        }
    }

    /// Converts the images of pairs of enclosing spheres to those of the pairs of given spheres.
    pub(crate) fn name_images(&self, found: &mut Hits<Collision>) {
        let Hits { items, images } = found;
        let chunks = images.par_chunks_mut(TASK).zip(items.par_chunks(TASK));
        chunks.for_each(|(images, items)| {
            for (image, pair) in images.iter_mut().zip(items) {
                *image = self.image(pair, *image);
            }
        });
    }

    /// Converts the image of a pair of enclosing spheres to the image of the pair of given spheres.
    pub(crate) fn image(&self, found: &Collision, image: [i32; 3]) -> [i32; 3] {
        let b = found.b as usize + self.step.sets.b_offset();
        let [of_a, of_b] = [self.wraps[found.a as usize], self.wraps[b]];
        [0, 1, 2].map(|k| image[k] + of_b[k] - of_a[k])
    }
}

/// Decides exactly which of the enclosing pairs `found` touch, and fills `pairs` with these, in their order.
pub(crate) fn decide(
    enclosed: &Enclosed<'_>,
    found: &Hits<Collision>,
    pairs: &mut Hits<Collision64>,
) -> Result<Grazing, Error> {
    let list = resized(&mut pairs.items, found.len(), LIST)?;
    let images = resized(&mut pairs.images, found.images.len(), LIST)?;
    let all = enclosed.pairs();
    let test = |(pairs, found): (&mut [Collision64], &[Collision]), images: Option<&[[i32; 3]]>| {
        let mut counts = WideCounts::default();
        let tested = pairs.chunks_mut(2).zip(found.chunks(2)).enumerate();
        for (number, (pairs, found)) in tested {
            // The last pair may be alone. It is then tested twice.
            let image = |lane: usize| images.map(|images| images[2 * number + lane]);
            let last = found.len() - 1;
            let both = [(0, found[0]), (last, found[last])];
            let both = both.map(|(lane, found)| enclosed.pair([found.a, found.b], image(lane)));
            let swept = all.sweep(both.each_ref());
            for (lane, (pair, found)) in pairs.iter_mut().zip(found).enumerate() {
                let has = |lanes: usize| lanes >> lane & 1 == 1;
                let mut hit = has(swept.hits).then_some(swept.impacts[lane]);
                if !has(swept.hits | swept.misses) {
                    let arithmetic;
                    (hit, arithmetic) = all.decide(&both[lane], swept.impacts[lane]);
                    counts.grazing.count(arithmetic);
                }
                counts.misses += usize::from(hit.is_none());
                *pair = match hit {
                    Some([toi, depth]) => Collision64 {
                        a: found.a,
                        b: found.b,
                        toi,
                        depth,
                    },
                    None => Collision64 {
                        a: NONE,
                        ..Collision64::default()
                    },
                };
            }
        }
        counts
    };
    let tasks = list.par_chunks_mut(TASK).zip(found.par_chunks(TASK));
    let counts = if found.images.is_empty() {
        let counts = tasks.map(|task| test(task, None));
        counts.reduce(WideCounts::default, WideCounts::plus)
    } else {
        let tasks = tasks.zip(
            images
                .par_chunks_mut(TASK)
                .zip(found.images.par_chunks(TASK)),
        );
        let counts = tasks.map(|(task, (images, of_found))| {
            for ((image, of_found), found) in images.iter_mut().zip(of_found).zip(task.1) {
                *image = enclosed.image(found, *of_found);
            }
            test(task, Some(images))
        });
        counts.reduce(WideCounts::default, WideCounts::plus)
    };
    // Removing misses takes a pass of one thread over the whole list.
    if counts.misses > 0 {
        pairs.retain(|pair, _| pair.a != NONE);
    }
    Ok(counts.grazing)
}
