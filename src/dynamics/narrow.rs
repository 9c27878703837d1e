//! Conversions to smaller numbers.

#[allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³⁰ spheres, and memory is too small for 2³² of other things"
)]
pub(super) fn narrow(number: usize) -> u32 {
    number as u32
}

/// Rounds up to float32.
#[allow(clippy::cast_possible_truncation, reason = "rounded up to float32")]
pub(super) fn next_up(x: f64) -> f32 {
    (x as f32).next_up()
}
