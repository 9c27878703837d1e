//! `scan`: a prefix sum over the number of items with each key. The sum gives where the items of
//! each key begin, and so the place of each item. The shaders scan one table. On the CPU each
//! bucket scans its own part of the table. Twin of `shaders/scan_reduce.wgsl` and
//! `shaders/scan_apply.wgsl`.

/// Sorts items by key, as a stable counting sort: calls `put` with the place of each item, counted
/// from `begin`. On return, `ends` holds where the items of each key end. Returns the largest
/// number of items with one key.
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
