//! Sorts pairs and removes repeats. The CPU uses the sort of rayon. The twins
//! `shaders/sort_count.wgsl`, `shaders/sort_scatter.wgsl` and `shaders/unique.wgsl` implement a
//! radix sort.

use rayon::prelude::*;

pub(crate) fn sort<T: Send, K: Ord>(pairs: &mut Vec<T>, key: impl Fn(&T) -> K + Sync) {
    pairs.par_sort_unstable_by_key(&key);
    pairs.dedup_by_key(|pair| key(pair));
}
