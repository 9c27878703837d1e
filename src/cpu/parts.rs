//! Parallel work on the parts of one slice, or of several slices at once.

use std::ops::Range;

use rayon::prelude::*;

use crate::Error;

pub(crate) fn take<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    rest.split_off_mut(..count).unwrap_or_default()
}

/// Calls `work` in parallel with each of the parts `parts` of `all`. `take` splits off and
/// returns some consecutive parts, with the numbers of the first few of them.
pub(crate) fn for_each_part<T: Send>(
    parts: Range<usize>,
    all: T,
    take: impl Fn(&mut T, Range<usize>) -> T + Sync,
    work: impl Fn(usize, T) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let halve = |(parts, mut all): (Range<usize>, T)| {
        let middle = parts.start.midpoint(parts.end);
        if middle == parts.start {
            return ((parts, all), None);
        }
        let first = take(&mut all, parts.start..middle);
        ((parts.start..middle, first), Some((middle..parts.end, all)))
    };
    rayon::iter::split((parts, all), halve).try_for_each(|(mut parts, mut all)| {
        parts.try_for_each(|part| work(part, take(&mut all, part..part + 1)))
    })
}
