//! `contacts`: each sphere's own contacts, in rows.

use super::rows;
use crate::{Collision, Contacts};

/// Rows of indices into `pairs`. In each, those where the sphere is b come before
/// those where it is a, and both are in the order of `pairs`. `split` is where the
/// second of two sets begins, 0 if there is one set. Pairs of spheres that there
/// are not are skipped.
pub(crate) fn contacts(pairs: &[Collision], spheres: usize, split: usize) -> Contacts {
    let numbered = || {
        let pairs = pairs.iter().zip(0..=u32::MAX);
        pairs.filter_map(|(pair, index)| Some((rows(pair, spheres, split)?, index)))
    };
    let mut offsets = vec![0; spheres + 1];
    for row in numbered().flat_map(|(rows, _)| rows) {
        offsets[row] += 1;
    }
    let mut sum: usize = 0;
    for offset in &mut offsets {
        sum += std::mem::replace(offset, sum);
    }
    let mut next = offsets.clone();
    let mut indices = vec![0; sum];
    for side in [1, 0] {
        for (rows, index) in numbered() {
            let place = &mut next[rows[side]];
            indices[*place] = index;
            *place += 1;
        }
    }
    Contacts { offsets, indices }
}
