//! Computes by a prefix sum where the items of each key begin in sorted order. The CPU scans each
//! bucket by itself, and the shaders scan one table of all keys. Twin of `shaders/collide/scan_reduce.wgsl`
//! and `shaders/collide/scan_apply.wgsl`.

/// A stable counting sort. Calls `put` with each item and its sorted index, counted from
/// `begin`. Fills `ends` with the end of each key, and returns the largest number of items with
/// one key.
#[inline(always)]
pub(crate) fn places<T>(
    items: impl Iterator<Item = T> + Clone,
    ends: &mut [u32],
    begin: u32,
    key: impl Fn(&T) -> usize,
    mut put: impl FnMut(usize, T),
) -> u32 {
    ends.fill(0);
    items.clone().for_each(|item| ends[key(&item)] += 1);
    let (mut sum, mut most) = (begin, 0);
    for end in &mut *ends {
        let count = std::mem::replace(end, sum);
        sum += count;
        most = most.max(count);
    }
    items.for_each(|item| {
        let end = &mut ends[key(&item)];
        put(*end as usize, item);
        *end += 1;
    });
    most
}
