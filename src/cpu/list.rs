//! `list`: makes the sorted list of the pairs that touch, in which each pair occurs once.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies and slots, and all other numbers are smaller"
)]

use wide::i32x4;

use super::buckets::Buckets;
use super::parts::{for_each_part, take};
use super::scan::places;
use crate::exact::{ImageCollision, Listed};
use crate::lanes::LANES;
use crate::memory::{LIST, resized};
use crate::reuse::ScratchPool;
use crate::{Collision, Error};

/// Fills `list` with all items of `pairs`, sorted by index a and then by index b. The buckets of
/// `pairs` are ranges of a. `ends` is scratch memory.
pub(crate) fn list<L: SortRow>(
    pairs: &Buckets<L>,
    ends: &ScratchPool<u32>,
    list: &mut Vec<L>,
) -> Result<(), Error> {
    let buckets = 0..pairs.count;
    let list = resized(list, pairs.len(buckets.clone()), LIST)?;
    let take = |list: &mut _, buckets| take(list, pairs.len(buckets));
    for_each_part(buckets, list, take, |bucket, part| {
        let range = pairs.range(bucket..bucket + 1);
        let mut ends = ends.take();
        let ends = ends.enough(range.len(), "the table of pairs by sphere")?;
        let row = |pair: &L| pair.pair().a as usize - range.start;
        places(pairs.items(bucket), ends, 0, row, |place, pair| {
            part[place] = *pair;
        });
        let mut begin = 0;
        for &mut end in ends {
            L::sort_row(&mut part[begin as usize..end as usize]);
            begin = end;
        }
        Ok(())
    })
}

/// An entry of a list of pairs in which a row, the entries with one index a, can be sorted.
pub(crate) trait SortRow: Listed {
    fn sort_row(row: &mut [Self]);
}

impl SortRow for Collision {
    #[inline(always)]
    fn sort_row(row: &mut [Self]) {
        sort_row(row);
    }
}

impl SortRow for ImageCollision {
    #[inline(always)]
    fn sort_row(row: &mut [Self]) {
        if row.len() > 1 {
            row.sort_unstable_by_key(|listed| (listed.pair().b, listed.image));
        }
    }
}

/// Sorts distinct pairs with the same index a by their index b. Inlined, because there is mostly at
/// most one pair.
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
        _ => row.sort_unstable_by_key(|pair| pair.b),
    }
}

/// Returns whether a few pairs are already sorted by their index b, as is common if neighbouring
/// spheres are close in memory. A branch for each pair would cost more.
fn in_order(row: &[Collision]) -> bool {
    row.windows(2)
        .fold(true, |so_far, two| so_far & (two[0].b < two[1].b))
}

/// Sorts a few pairs by their index b. The place of a pair is the number of pairs before it.
/// Counting them takes more comparisons than other algorithms, but no branches that may be
/// mispredicted.
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
            // A true comparison has the result −1, so the subtraction adds 1 to the rank.
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
