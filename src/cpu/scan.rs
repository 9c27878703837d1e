//! `scan`: computes where the items of each key begin in sorted order, by a prefix sum over the
//! number of items of each key. The shaders scan one table of all keys. On the CPU, the keys are
//! divided into buckets, and each bucket scans its own part of the table. Twin of
//! `shaders/scan_reduce.wgsl` and `shaders/scan_apply.wgsl`.

/// Sorts items by key with a stable counting sort: calls `put` with each item and its index in
/// sorted order, where `begin` is the index of the first item. On return, `ends` has, for each key,
/// the index after its last item. Returns the largest number of items that have the same key.
#[inline(always)]
pub(crate) fn places<'a, T: 'a>(
    items: impl Iterator<Item = &'a T> + Clone,
    ends: &mut [u32],
    begin: u32,
    key: impl Fn(&T) -> usize,
    mut put: impl FnMut(usize, &T),
) -> u32 {
    ends.fill(0);
    items.clone().for_each(|item| ends[key(item)] += 1);
    let (mut sum, mut most) = (begin, 0);
    for end in &mut *ends {
        let count = std::mem::replace(end, sum);
        sum += count;
        most = most.max(count);
    }
    items.for_each(|item| {
        let end = &mut ends[key(item)];
        put(*end as usize, item);
        *end += 1;
    });
    most
}
