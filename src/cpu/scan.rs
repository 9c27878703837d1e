//! `scan`: from how many there are of each to where each begins. The shaders have
//! one table for it; here every bucket has its part of it.

/// Turns counts into their exclusive prefix sums, in place, the first being `sum`.
pub(crate) fn exclusive(counts: &mut [u32], mut sum: u32) {
    for count in counts {
        sum += std::mem::replace(count, sum);
    }
}
