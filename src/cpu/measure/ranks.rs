//! Computes the median of some values of a sample, and their range without outliers. Twin of
//! `shaders/collide/measure_ranks.wgsl`.

use crate::reuse::ReusedVec;
use crate::shared::tuning::TRIM_DIVISOR;

pub(super) fn median(memory: &mut ReusedVec<f32>, values: impl Iterator<Item = f32>) -> f32 {
    let values = memory.refill(values);
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f32::total_cmp).1
}

/// Returns the lowest value, the median and the highest, without the fraction 1 /
/// [`TRIM_DIVISOR`] at each end.
pub(super) fn trimmed_range(
    memory: &mut ReusedVec<f32>,
    values: impl Iterator<Item = f32>,
) -> [f32; 3] {
    let sorted = memory.refill(values);
    sorted.sort_unstable_by(f32::total_cmp);
    let count = sorted.len();
    [
        count / TRIM_DIVISOR,
        count / 2,
        count - 1 - count / TRIM_DIVISOR,
    ]
    .map(|rank| sorted[rank])
}
