//! `scan`: from how many there are of each to where each begins, and with it the
//! place of each. The shaders have one table for it; here every bucket has its part
//! of it.

/// Gives every item its place, from `begin` on, in the order of their numbers, and where
/// these are the same, of the items: a counting sort. `ends` becomes where each number
/// ends. Returns how many have the number that most have.
#[inline(always)]
pub(crate) fn places<'a, T: 'a>(
    items: impl Iterator<Item = &'a T> + Clone,
    ends: &mut [u32],
    begin: u32,
    number: impl Fn(&T) -> usize,
    mut put: impl FnMut(usize, &T),
) -> u32 {
    ends.fill(0);
    items.clone().for_each(|item| ends[number(item)] += 1);
    let (mut sum, mut most) = (begin, 0);
    for end in &mut *ends {
        let count = std::mem::replace(end, sum);
        sum += count;
        most = most.max(count);
    }
    items.for_each(|item| {
        let end = &mut ends[number(item)];
        put(*end as usize, item);
        *end += 1;
    });
    most
}
