//! The constants of the filter: the swept test of two spheres in float32 that tells hits,
//! misses and grazing pairs apart on a GPU. docs/exact.md has the proof. The test itself is in
//! `shaders/shared/filter.wgsl`; the CPU sweeps in float64, see [`exact`](crate::exact).

/// Largest relative error of one operation, where no rounding mode is promised: the distance
/// from 1 to the next float32.
pub(crate) const EPSILON: f32 = f32::EPSILON;
/// The relative error of an operation as bounds count it: [`EPSILON`], and a little more for
/// second-order terms and for the rounding of the bound itself.
#[cfg(feature = "gpu")]
pub(crate) const ROUNDING: f32 = 1.001 * EPSILON;
/// Largest error of the margin r² − q·q, in units of ε·(|p| + 2|v|t)·|q|; the terms of
/// [`SQUARES`] and [`QUADRATIC`] are added to it.
#[cfg(feature = "gpu")]
pub(crate) const LINEAR: f32 = 2.0;
/// Largest further error of the margin, in units of ε·(r² + q·q).
#[cfg(feature = "gpu")]
pub(crate) const SQUARES: f32 = 5.0;
/// Largest further error of the margin, in units of (ε·(|p| + 2|v|t))²: an error of the time of
/// closest approach moves q along v, so it counts squared.
#[cfg(feature = "gpu")]
pub(crate) const QUADRATIC: f32 = 25.0;
/// Largest error of the margin when subnormal numbers are flushed to zero, 2⁻¹²⁰.
#[cfg(feature = "gpu")]
pub(crate) const ABSOLUTE: f32 = 1.0 / (1_u128 << 120) as f32;
/// Smallest v·v, 2⁻⁸⁸, that has lost no digits to underflow. With a smaller one the time of
/// closest approach would mean nothing, and the start of the step stands for it.
pub(crate) const SLOW: f32 = 1.0 / (1_u128 << 88) as f32;
/// Largest error of the margin, in units of |p|·|v|·dt, where the start of the step stands for
/// the time of closest approach: 2, and a little for rounding.
#[cfg(feature = "gpu")]
pub(crate) const SLOWLY: f32 = 2.01;
/// Margin of the test before the filter, 2⁻¹⁴, as a part of the radii and of what two move past one
/// another in the step.
#[cfg(feature = "gpu")]
pub(crate) const NEAR_MARGIN: f32 = 1.0 / (1_u32 << 14) as f32;
/// Further margin of that test, 2⁻³²: more than slow pairs move past one another, and than what
/// underflow takes.
#[cfg(feature = "gpu")]
pub(crate) const NEAR_LEAST: f32 = 1.0 / (1_u64 << 32) as f32;
#[cfg(all(test, feature = "gpu"))]
mod any_gpu;
#[cfg(all(test, feature = "gpu"))]
mod tests;
