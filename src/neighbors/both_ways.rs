//! Makes the rows of a full list from the pairs of a half list: each pair is an entry of both of its particles.
//!
//! In a half list, second particles are in no order. So that their entries are written to the cache, they are first
//! sorted by blocks of rows.

use std::mem::take;
use std::ops::Range;

use rayon::prelude::*;

use crate::memory::{allocate, collect_in_parallel, filled, push, resized};
use crate::{Collision, Error, Hits};

pub(super) const NEIGHBORS: &str = "the list of neighbours";

/// Number of pairs that are sorted together.
const PART: usize = 1 << 16;
/// Number of entries of a block of rows, about. They fit into the cache of a core.
const BLOCK: usize = 1 << 15;
/// With more blocks, sorting into them would not stay in the cache.
const MOST_BLOCKS: usize = 1 << 10;

/// The entries of the second particles of some pairs, sorted by blocks.
struct SortedEntries {
    entries: Vec<[u32; 2]>,
    images: Vec<[i32; 3]>,
    /// The end of each block.
    ends: Vec<usize>,
}

impl SortedEntries {
    fn new(
        pairs: &[Collision],
        images: &[[i32; 3]],
        shift: u32,
        blocks: usize,
    ) -> Result<Self, Error> {
        let mut next = filled(blocks, 0, NEIGHBORS)?;
        let block = |pair: &Collision| (pair.b >> shift) as usize;
        for pair in pairs {
            next[block(pair)] += 1;
        }
        add_up(&mut next, 0);
        let mut entries = filled(pairs.len(), [0; 2], NEIGHBORS)?;
        let mut of = filled(images.len(), [0; 3], NEIGHBORS)?;
        // Negated images of the same particles have the reverse order.
        let mut begin = 0;
        for same in pairs.chunk_by(are_same) {
            for (offset, pair) in same.iter().enumerate().rev() {
                let place = &mut next[block(pair)];
                entries[*place] = [pair.b, pair.a];
                if let Some(image) = images.get(begin + offset) {
                    of[*place] = image.map(|n| -n);
                }
                *place += 1;
            }
            begin += same.len();
        }
        Ok(Self {
            entries,
            images: of,
            ends: next,
        })
    }

    fn range(&self, block: usize) -> Range<usize> {
        let begin = block.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin..self.ends[block]
    }
}

/// The rows of neighbouring particles.
struct RowBlock<'a> {
    first: usize,
    rows: &'a mut [usize],
    /// Index of its first entry in the list.
    begin: usize,
    entries: &'a mut [[u32; 2]],
    images: &'a mut [[i32; 3]],
    /// The pairs whose first particles have these rows.
    pairs: &'a [Collision],
    images_of_pairs: &'a [[i32; 3]],
}

impl RowBlock<'_> {
    fn fill(self, block: usize, parts: &[SortedEntries]) {
        let Self { rows, begin, .. } = self;
        let of_part = |part: &SortedEntries| part.range(block);
        for part in parts {
            for [row, _] in &part.entries[of_part(part)] {
                rows[*row as usize - self.first] += 1;
            }
        }
        for pair in self.pairs {
            rows[pair.a as usize - self.first] += 1;
        }
        add_up(rows, begin);
        let mut put = |entry: [u32; 2], image: Option<&[i32; 3]>| {
            let place = &mut rows[entry[0] as usize - self.first];
            self.entries[*place - begin] = entry;
            if let Some(image) = image {
                self.images[*place - begin] = *image;
            }
            *place += 1;
        };
        // Neighbours of smaller index come first.
        for part in parts {
            for k in of_part(part) {
                put(part.entries[k], part.images.get(k));
            }
        }
        for (k, pair) in self.pairs.iter().enumerate() {
            put([pair.a, pair.b], self.images_of_pairs.get(k));
        }
        // Each row has its end, which is the beginning of the next one.
        rows.rotate_right(1);
        if let Some(row) = rows.first_mut() {
            *row = begin;
        }
    }
}

/// Fills `pairs` with the entries of both particles of all pairs `found`, sorted as [`NeighborList`](crate::NeighborList)
/// says. `rows` must be filled with 0, and gets the first entry of each particle, and the number of all.
pub(super) fn fill(
    rows: &mut [usize],
    pairs: &mut Hits<[u32; 2]>,
    found: &[Collision],
    images: &[[i32; 3]],
) -> Result<(), Error> {
    let Some((all, rows)) = rows.split_last_mut() else {
        return Ok(());
    };
    *all = 2 * found.len();
    let blocks = (2 * found.len() / BLOCK).clamp(1, MOST_BLOCKS);
    let width = rows.len().div_ceil(blocks).next_power_of_two();
    let (blocks, shift) = (rows.len().div_ceil(width), width.trailing_zeros());

    let mut ranges = Vec::new();
    let mut begin = 0;
    while begin < found.len() {
        let mut end = found.len().min(begin + PART);
        while end < found.len() && are_same(&found[end - 1], &found[end]) {
            end += 1;
        }
        push(&mut ranges, begin..end, NEIGHBORS)?;
        begin = end;
    }
    let sorted = ranges.par_iter().map(|range| {
        let images = images.get(range.clone()).unwrap_or_default();
        SortedEntries::new(&found[range.clone()], images, shift, blocks)
    });
    let sorted = collect_in_parallel(sorted, NEIGHBORS)?;
    let mut parts = allocate(sorted.len(), NEIGHBORS)?;
    for part in sorted {
        parts.push(part?);
    }

    let mut entries = resized(&mut pairs.items, 2 * found.len(), NEIGHBORS)?;
    let mut of_entries = resized(&mut pairs.images, 2 * images.len(), NEIGHBORS)?;
    let mut work = allocate(blocks, NEIGHBORS)?;
    let (mut begin, mut given) = (0, 0);
    for (block, rows) in rows.chunks_mut(width).enumerate() {
        let first = block * width;
        let after = |pair: &Collision| (pair.a as usize) < first + width;
        let end = given + found[given..].partition_point(after);
        let seconds = parts.iter().map(|part| part.range(block).len());
        let count = end - given + seconds.sum::<usize>();
        let (own, rest) = take(&mut entries).split_at_mut(count);
        let of_own = if images.is_empty() { 0 } else { count };
        let (of_own, of_rest) = take(&mut of_entries).split_at_mut(of_own);
        work.push(RowBlock {
            first,
            rows,
            begin,
            entries: own,
            images: of_own,
            pairs: &found[given..end],
            images_of_pairs: images.get(given..end).unwrap_or_default(),
        });
        (entries, of_entries) = (rest, of_rest);
        (begin, given) = (begin + count, end);
    }
    let work = work.into_par_iter().enumerate();
    work.for_each(|(block, rows)| rows.fill(block, &parts));
    Ok(())
}

fn are_same(one: &Collision, other: &Collision) -> bool {
    (one.a, one.b) == (other.a, other.b)
}

/// Replaces numbers by the sums of those before, beginning with `sum`.
fn add_up(numbers: &mut [usize], mut sum: usize) {
    for number in numbers {
        sum += std::mem::replace(number, sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of several parts and blocks, with particles that are neighbours of their own images and of several images of
    /// others, and particles without neighbours.
    #[test]
    fn each_pair_is_an_entry_of_both_particles_in_order() {
        let mut rng = fastrand::Rng::with_seed(1);
        let particles = 5000_u32;
        let mut half = Vec::new();
        for _ in 0..40_000 {
            let mut pair = [0, 0].map(|_| 3 * rng.u32(..particles / 3));
            pair.sort_unstable();
            let most = if rng.bool() { 1 } else { 4 };
            half.extend((0..most).map(|x| (pair, [x + 1, rng.i32(-1..2), 0])));
        }
        half.sort_unstable();
        half.dedup();
        assert!(half.len() > PART && 2 * half.len() > 2 * BLOCK);
        let pair = |&([a, b], _): &([u32; 2], [i32; 3])| Collision {
            a,
            b,
            ..Collision::default()
        };
        let found: Vec<_> = half.iter().map(pair).collect();
        let images: Vec<_> = half.iter().map(|&(_, image)| image).collect();
        let reversed = half
            .iter()
            .map(|&([a, b], image)| ([b, a], image.map(|n| -n)));
        let mut expected: Vec<_> = half.iter().copied().chain(reversed).collect();
        expected.sort_unstable();

        for images in [&images[..], &[]] {
            let mut rows = vec![0; particles as usize + 1];
            let mut full = Hits::default();
            fill(&mut rows, &mut full, &found, images).expect("memory");
            let entries: Vec<_> = expected.iter().map(|&(entry, _)| entry).collect();
            assert!(full.items == entries);
            if !images.is_empty() {
                let images: Vec<_> = expected.iter().map(|&(_, image)| image).collect();
                assert!(full.images == images);
            }
            for (i, ends) in rows.windows(2).enumerate() {
                let before = |entry: &[u32; 2]| (entry[0] as usize) < i;
                assert_eq!(ends[0], entries.partition_point(before));
            }
            assert_eq!(rows.last(), Some(&entries.len()));
        }
    }
}
