//! `scan`: from proxies a slot to the place where each slot begins in the
//! sorted order.

use rayon::prelude::*;

/// Turns counts into their exclusive prefix sums, in place.
pub(crate) fn scan(table: &mut [u32]) {
    let block = table
        .len()
        .div_ceil(4 * rayon::current_num_threads())
        .max(1 << 14);
    let mut sums: Vec<u32> = table
        .par_chunks(block)
        .map(|counts| counts.iter().sum())
        .collect();
    exclusive(&mut sums, 0);
    table
        .par_chunks_mut(block)
        .zip(&sums)
        .for_each(|(counts, &sum)| exclusive(counts, sum));
}

fn exclusive(counts: &mut [u32], mut sum: u32) {
    for count in counts {
        sum += std::mem::replace(count, sum);
    }
}
