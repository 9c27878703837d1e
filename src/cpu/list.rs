//! `list`: the pairs that `pairs` has decided, each of them once, in order.

use rayon::prelude::*;

use super::buckets::{Buckets, take};
use super::scan::places;
use crate::error::zeroed;
use crate::{Collision, Error};

/// Fills a list with the pairs by a, then by b, from buckets by a.
pub(crate) fn list(pairs: &Buckets<Collision>, list: &mut Vec<Collision>) -> Result<(), Error> {
    let counts: Vec<usize> = (0..pairs.count).map(|bucket| pairs.len(bucket)).collect();
    let count = counts.iter().sum();
    if list.capacity() < count {
        *list = zeroed(count, "the list of collisions")?;
    } else {
        list.resize(count, Collision::default());
    }
    let mut rest = &mut list[..];
    let parts: Vec<(usize, &mut [Collision])> = counts
        .iter()
        .map(|&count| take(&mut rest, count))
        .enumerate()
        .collect();
    parts
        .into_par_iter()
        .for_each_init(Vec::new, |ends, (bucket, part)| {
            let range = pairs.range(bucket);
            ends.clear();
            ends.resize(range.len(), 0);
            let row = |pair: &Collision| pair.a as usize - range.start;
            places(pairs.items(bucket), ends, row, |place, pair| {
                part[place] = *pair;
            });
            let mut begin = 0;
            for &mut end in ends {
                if end - begin > 1 {
                    part[begin as usize..end as usize].sort_unstable_by_key(|pair| pair.b);
                }
                begin = end;
            }
        });
    Ok(())
}
