//! Sorts pairs and removes repeats. The CPU uses the sort of rayon. The twins
//! `shaders/sort_count.wgsl`, `shaders/sort_scatter.wgsl` and `shaders/unique.wgsl` implement a
//! radix sort.

use rayon::prelude::*;

/// One thread looks for repeats among at least this many pairs.
const TASK: usize = 4096;

pub(crate) fn sort<T: Send + Sync, K: Ord>(pairs: &mut Vec<T>, key: impl Fn(&T) -> K + Sync) {
    pairs.par_sort_unstable_by_key(&key);
    // Most lists have no repeats. Finding this out in parallel takes less time than a pass of one
    // thread that removes repeats.
    let neighbors = pairs.par_windows(2).with_min_len(TASK);
    if neighbors.any(|two| key(&two[0]) == key(&two[1])) {
        pairs.dedup_by_key(|pair| key(pair));
    }
}
