//! The swept test of two spheres in float32, by which a GPU tells hits, misses and what
//! is too close to tell: its constants, for which docs/exact.md has the proof. Twin of
//! `shaders/shared/filter.wgsl`; the CPU sweeps in float64 at once, see
//! [`exact`](crate::exact).

/// What one operation may be off by, relatively, where no rounding mode is
/// promised: the distance from 1 to the next float32.
pub(crate) const EPSILON: f32 = f32::EPSILON;
/// The same in bounds, with a little more for what is second-order, and for the
/// rounding of the bound itself.
pub(crate) const ROUNDING: f32 = 1.001 * EPSILON;
/// How many ε·(|p| + 2|v|t)·|q| the margin r² − q·q may be wrong by.
pub(crate) const LINEAR: f32 = 2.0;
/// How many ε·(r² + q·q) besides.
pub(crate) const SQUARES: f32 = 5.0;
/// How many (ε·(|p| + 2|v|t))² besides: what is wrong with the time of closest
/// approach moves q along v, so it counts squared.
pub(crate) const QUADRATIC: f32 = 25.0;
/// What may get lost when subnormal numbers are flushed to zero, 2⁻¹²⁰.
pub(crate) const ABSOLUTE: f32 = 1.0 / (1_u128 << 120) as f32;
/// Below this, 2⁻⁸⁸, v·v may have lost digits to underflow, and the time of
/// closest approach would mean nothing. The start of the step stands for it.
pub(crate) const SLOW: f32 = 1.0 / (1_u128 << 88) as f32;
/// How many times |p|·|v|·dt the margin may be wrong where the start of the step
/// stands for the time of closest approach: twice, and a little for rounding.
pub(crate) const SLOWLY: f32 = 2.01;
#[cfg(test)]
mod any_gpu;
#[cfg(test)]
mod tests;
