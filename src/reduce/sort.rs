//! Sorts pairs and removes repeats. The CPU uses the sort of rayon. The twins
//! `shaders/reduce/sort_rows.wgsl`, `shaders/reduce/sort_runs.wgsl` and `shaders/reduce/unique.wgsl` sort by rows, and
//! `shaders/reduce/rows.wgsl` does for a `Detector`.

use rayon::prelude::*;

const TASK: usize = 4096;

pub(crate) fn sort<T: Send + Sync, K: Ord>(pairs: &mut Vec<T>, key: impl Fn(&T) -> K + Sync) {
    // A detector's list is sorted and usually without repeats in open space, which threads
    // find out faster.
    let neighbors = || pairs.par_windows(2).with_min_len(TASK);
    if neighbors().all(|two| key(&two[0]) < key(&two[1])) {
        return;
    }
    // A GPU's list may have repeats.
    if !neighbors().all(|two| key(&two[0]) <= key(&two[1])) {
        pairs.par_sort_unstable_by_key(&key);
    }
    pairs.dedup_by_key(|pair| key(pair));
}
