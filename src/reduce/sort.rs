//! `sort`: sorts pairs and removes repeats. The CPU uses the sort of rayon. The twins
//! `shaders/sort_count.wgsl`, `shaders/sort_scatter.wgsl` and `shaders/unique.wgsl` implement a
//! radix sort.

use rayon::prelude::*;

/// Sorts pairs by their indices a and b, which `indices` returns, and removes repeats.
pub(crate) fn sort<T: Send>(pairs: &mut Vec<T>, indices: impl Fn(&T) -> [u32; 2] + Sync) {
    pairs.par_sort_unstable_by_key(|pair| {
        let [a, b] = indices(pair);
        (u64::from(a) << 32) | u64::from(b)
    });
    pairs.dedup_by_key(|pair| indices(pair));
}
