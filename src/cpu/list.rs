//! Makes the sorted list of the pairs that touch, in which each pair occurs once.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies and slots, and all other numbers are smaller"
)]

use std::ops::Range;

#[cfg(feature = "gpu")]
use rayon::prelude::*;
use wide::i32x4;

use super::buckets::Buckets;
use super::parts::{for_each_part, take};
use super::scan::places;
use crate::exact::{ImageCollision, Listed};
#[cfg(feature = "gpu")]
use crate::exact::{Report, ReportedPair};
use crate::hits::sort_both;
use crate::lanes::LANES;
use crate::limits::CHUNK;
use crate::memory::{LIST, collect, extend, reserve, resized};
use crate::reuse::ScratchPool;
use crate::{Collision, Error};

/// Up to this many pairs with images in a row, insertion sort is the fastest.
const FEW: usize = 12;
const TABLE: &str = "the table of pairs by sphere";

/// Fills `list` with `pairs`, sorted by a and b. `ends` is scratch memory.
pub(crate) fn list(
    pairs: &Buckets<Collision>,
    ends: &ScratchPool<u32>,
    list: &mut Vec<Collision>,
) -> Result<(), Error> {
    let buckets = 0..pairs.count;
    let list = resized(list, pairs.len(buckets.clone()), LIST)?;
    let take = |list: &mut _, buckets| take(list, pairs.len(buckets));
    for_each_part(buckets, list, take, |bucket, part| {
        let range = pairs.range(bucket..bucket + 1);
        let mut ends = ends.take();
        let ends = ends.enough(range.len(), TABLE)?;
        let row = |pair: &&Collision| pair.a as usize - range.start;
        places(pairs.items(bucket), ends, 0, row, |place, pair| {
            part[place] = *pair;
        });
        sort_rows(part, ends, 0);
        Ok(())
    })
}

/// Fills `list` with both kinds of pairs, sorted by a, b and image, and `list_images` with
/// their images, 0 for `pairs`. Both have the same number of buckets.
pub(crate) fn list_with_images(
    pairs: &Buckets<Collision>,
    images: &Buckets<ImageCollision>,
    ends: &ScratchPool<u32>,
    list: &mut Vec<Collision>,
    list_images: &mut Vec<[i32; 3]>,
) -> Result<(), Error> {
    let buckets = 0..pairs.count;
    let len = |buckets: Range<usize>| pairs.len(buckets.clone()) + images.len(buckets);
    let count = len(buckets.clone());
    let list = resized(list, count, LIST)?;
    // `resized` fills what it adds with [0, 0, 0].
    let kept = list_images.len();
    let all = (list, resized(list_images, count, LIST)?);
    let take = |(list, images): &mut (_, _), buckets: Range<usize>| {
        (take(list, len(buckets.clone())), take(images, len(buckets)))
    };
    for_each_part(buckets, all, take, |bucket, (list, list_images)| {
        let range = pairs.range(bucket..bucket + 1);
        let mut ends = ends.take();
        let ends = ends.enough(range.len(), TABLE)?;
        let row = |pair: &Collision| pair.a as usize - range.start;
        let images = images.items(bucket);
        let mut with_images = collect(images.clone().map(|listed| row(listed.pair())), LIST)?;
        with_images.sort_unstable();
        with_images.dedup();
        let plain = pairs.items(bucket).map(|pair| (pair, None));
        let images = images.map(|listed| (listed.pair(), Some(listed.image)));
        // Images of an earlier step. A flat slice is filled by one call of a fast library function.
        let kept = kept.saturating_sub(len(0..bucket)).min(list_images.len());
        list_images[..kept].as_flattened_mut().fill(0);
        let all = plain.chain(images);
        places(
            all,
            ends,
            0,
            |(pair, _)| row(pair),
            |place, (pair, image)| {
                list[place] = *pair;
                if let Some(image) = image {
                    list_images[place] = image;
                }
            },
        );
        let mut memory = RowMemory::default();
        let (mut begin, mut next) = (0, 0);
        for row in with_images {
            begin = sort_rows(list, &ends[next..row], begin);
            let pairs = begin..ends[row] as usize;
            sort_row_with_images(
                &mut list[pairs.clone()],
                &mut list_images[pairs],
                &mut memory,
            );
            (begin, next) = (ends[row] as usize, row + 1);
        }
        sort_rows(list, &ends[next..], begin);
        Ok(())
    })
}

/// Sorts pairs with an image into the buckets of those without. `first_set` is the number of
/// spheres in the first set.
pub(crate) fn sort_images(
    lists: &[&[ImageCollision]],
    first_set: usize,
    sorted: &mut Buckets<ImageCollision>,
) -> Result<(), Error> {
    let parts = collect(lists.iter().flat_map(|list| list.chunks(CHUNK)), LIST)?;
    let make = |part: usize, unsorted: &mut Vec<ImageCollision>| {
        extend(unsorted, parts[part].iter().copied(), LIST)
    };
    let key = |listed: &ImageCollision| listed.pair().a;
    sorted.fill(parts.len(), first_set, first_set, make, key)
}

/// Sorts pairs that a GPU has reported.
///
/// For long lists, this takes less time than rayon's sort, which begins with passes of one
/// thread over the whole list.
#[cfg(feature = "gpu")]
pub(crate) fn sort_reported(
    reported: &mut [ReportedPair],
    buckets: &mut Buckets<ReportedPair>,
) -> Result<(), Error> {
    let index = |pair: &ReportedPair| pair.a;
    let last = reported.par_iter().with_min_len(CHUNK).map(index);
    let range = last.max().map_or(0, |last| last as usize + 1);
    let parts = collect(reported.chunks(CHUNK), LIST)?;
    let make = |part: usize, unsorted: &mut Vec<ReportedPair>| {
        extend(unsorted, parts[part].iter().copied(), LIST)
    };
    buckets.fill(parts.len(), range, reported.len(), make, index)?;
    let take = |rest: &mut _, some| take(rest, buckets.len(some));
    for_each_part(0..buckets.count, reported, take, |bucket, part| {
        for (place, pair) in part.iter_mut().zip(buckets.items(bucket)) {
            *place = *pair;
        }
        // One sphere may be in most of the pairs.
        part.par_sort_unstable_by_key(Report::key);
        Ok(())
    })
}

fn insertion_sort(row: &mut [Collision], images: &mut [[i32; 3]]) {
    for end in 1..row.len() {
        let mut place = end;
        while place > 0 && (row[place].b, images[place]) < (row[place - 1].b, images[place - 1]) {
            row.swap(place, place - 1);
            images.swap(place, place - 1);
            place -= 1;
        }
    }
}

/// The pairs of a row, and a key for each, made of its b and its place.
type RowMemory = (Vec<(Collision, [i32; 3])>, Vec<u64>);

fn sort_row_with_images(
    row: &mut [Collision],
    images: &mut [[i32; 3]],
    (pairs, keys): &mut RowMemory,
) {
    if row.len() <= FEW {
        insertion_sort(row, images);
        return;
    }
    pairs.clear();
    keys.clear();
    if reserve(pairs, row.len(), LIST).is_err() || reserve(keys, row.len(), LIST).is_err() {
        sort_both(row, images, |(one, image), (other, other_image)| {
            (one.b, image).cmp(&(other.b, other_image))
        });
        return;
    }
    pairs.extend(row.iter().copied().zip(images.iter().copied()));
    // Keys of 64 bits are smaller than pairs. Images are compared only if b is the same,
    // which is rare.
    keys.extend(
        (0..)
            .zip(&*row)
            .map(|(place, pair): (u64, _)| u64::from(pair.b) << 32 | place),
    );
    keys.sort_unstable();
    if keys.windows(2).any(|two| two[0] >> 32 == two[1] >> 32) {
        keys.sort_unstable_by_key(|key| (key >> 32, pairs[*key as u32 as usize].1));
    }
    for ((pair, image), key) in row.iter_mut().zip(images).zip(keys) {
        (*pair, *image) = pairs[*key as u32 as usize];
    }
}

/// Returns the end of the last row. The first begins at `begin`.
#[inline(always)]
fn sort_rows(pairs: &mut [Collision], ends: &[u32], mut begin: usize) -> usize {
    for &end in ends {
        let end = end as usize;
        sort_row(&mut pairs[begin..end]);
        begin = end;
    }
    begin
}

/// Inlined, because there is mostly at most one pair.
#[inline(always)]
fn sort_row(row: &mut [Collision]) {
    match row.len() {
        0 | 1 => {}
        2 => {
            if row[1].b < row[0].b {
                row.swap(0, 1);
            }
        }
        3..=16 if in_order(row) => {}
        3..=8 => sort_by_rank::<2>(row),
        9..=16 => sort_by_rank::<4>(row),
        17..=32 => sort_by_rank::<8>(row),
        _ => row.sort_unstable_by_key(|pair| pair.b),
    }
}

/// Common if neighbouring spheres are close in memory. Branches for each pair would cost more.
fn in_order(row: &[Collision]) -> bool {
    row.windows(2)
        .fold(true, |so_far, two| so_far & (two[0].b < two[1].b))
}

/// The place of a pair is the number of pairs before it. Counting takes more comparisons than
/// other algorithms, but no branches that may be mispredicted.
#[inline(always)]
fn sort_by_rank<const BLOCKS: usize>(row: &mut [Collision]) {
    let mut pairs = [[Collision::default(); LANES]; BLOCKS];
    let pairs = &mut pairs.as_flattened_mut()[..row.len()];
    pairs.copy_from_slice(row);
    let mut b = [[0; LANES]; BLOCKS];
    for (b, pair) in b.as_flattened_mut().iter_mut().zip(&*pairs) {
        *b = pair.b as i32;
    }
    let blocks = b.map(i32x4::from);
    let mut ranks = [i32x4::splat(0); BLOCKS];
    for &b in &b.as_flattened()[..row.len()] {
        for (ranks, &block) in ranks.iter_mut().zip(&blocks) {
            // A true comparison is −1.
            *ranks -= block.simd_gt(i32x4::splat(b));
        }
    }
    let ranks = ranks.map(i32x4::to_array);
    for (pair, &rank) in pairs.iter().zip(ranks.as_flattened()) {
        row[rank as usize] = *pair;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use fastrand::Rng;

    use super::*;

    #[test]
    fn rows_with_images_of_any_length_are_sorted() {
        let mut rng = Rng::with_seed(2);
        let mut memory = RowMemory::default();
        for length in 0..40 {
            for _ in 0..100 {
                let mut distinct = BTreeSet::new();
                while distinct.len() < length {
                    distinct.insert((rng.u32(..20), [0; 3].map(|_: i32| rng.i32(-1..2))));
                }
                let expected: Vec<_> = distinct.into_iter().collect();
                let mut shuffled = expected.clone();
                rng.shuffle(&mut shuffled);
                let pair = |&(b, _): &(u32, [i32; 3])| Collision {
                    a: 1,
                    b,
                    toi: b as f32,
                    depth: 0.0,
                };
                let mut row: Vec<_> = shuffled.iter().map(pair).collect();
                let mut images: Vec<_> = shuffled.iter().map(|&(_, image)| image).collect();
                sort_row_with_images(&mut row, &mut images, &mut memory);
                let all_expected: Vec<_> = expected.iter().map(pair).collect();
                let images_expected: Vec<_> = expected.iter().map(|&(_, image)| image).collect();
                assert_eq!((row, images), (all_expected, images_expected));
            }
        }
    }

    #[test]
    fn rows_of_any_length_are_sorted() {
        let mut rng = Rng::with_seed(1);
        for length in 0..40 {
            for _ in 0..100 {
                let mut others = BTreeSet::new();
                while others.len() < length {
                    others.insert(rng.u32(..1 << 31));
                }
                let pair = |b| Collision {
                    a: 1,
                    b,
                    toi: b as f32,
                    depth: 0.0,
                };
                let expected: Vec<Collision> = others.into_iter().map(pair).collect();
                let mut row = expected.clone();
                rng.shuffle(&mut row);
                sort_row(&mut row);
                assert_eq!(row, expected);
            }
        }
    }
}
