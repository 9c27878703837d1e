//! `scan`: from how many there are of each to where each begins, and with it the
//! place of each. The shaders have one table for it; here every bucket has its part
//! of it.

/// Gives every item its place in the order of their numbers, and where these are the
/// same, of the items: a counting sort. `ends` becomes where each number ends.
#[inline(always)]
pub(crate) fn places<'a, T: 'a>(
    items: impl Iterator<Item = &'a T> + Clone,
    ends: &mut [u32],
    number: impl Fn(&T) -> usize,
    mut put: impl FnMut(usize, &T),
) {
    ends.fill(0);
    for item in items.clone() {
        ends[number(item)] += 1;
    }
    let mut sum = 0;
    for count in &mut *ends {
        sum += std::mem::replace(count, sum);
    }
    for item in items {
        let place = &mut ends[number(item)];
        put(*place as usize, item);
        *place += 1;
    }
}
