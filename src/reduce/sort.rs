//! `sort`: any pairs in order, without repeats. A library sorts here; the twins
//! `shaders/sort_count.wgsl`, `shaders/sort_scatter.wgsl` and `shaders/unique.wgsl` do it
//! themselves.

use rayon::prelude::*;

/// Sorts by a, then by b, as `indices` tells them, and drops repeats.
pub(crate) fn sort<T: Send>(pairs: &mut Vec<T>, indices: impl Fn(&T) -> [u32; 2] + Sync) {
    pairs.par_sort_unstable_by_key(|pair| {
        let [a, b] = indices(pair);
        (u64::from(a) << 32) | u64::from(b)
    });
    pairs.dedup_by_key(|pair| indices(pair));
}
