//! Constants of the filter (`shaders/shared/filter.wgsl`) and of the near test
//! (`shaders/shared/near.wgsl`). docs/exact.md (section 1) proves the bounds.
//!
//! The filter computes r² − q·q, where r is the sum of the radii of two spheres, q = p + v·t their
//! relative position at the time t of closest approach, and p and v their relative position and
//! velocity. Its error bound is a sum of terms, with ε = 2⁻²³.

/// Twice that of rounding to nearest, because WGSL guarantees no rounding mode.
pub(crate) const EPSILON: f32 = f32::EPSILON;
/// [`EPSILON`] plus 0.1 %, for products of rounding errors and for the computation of the bound.
#[cfg(feature = "gpu")]
pub(crate) const ROUNDING: f32 = 1.001 * EPSILON;
/// One term is this constant times ε·(|p| + 2|v|t)·|q|.
#[cfg(feature = "gpu")]
pub(crate) const LINEAR: f32 = 2.0;
/// One term is this constant times ε·(r² + q·q).
#[cfg(feature = "gpu")]
pub(crate) const SQUARES: f32 = 5.0;
/// One term is this constant times (ε·(|p| + 2|v|t))².
#[cfg(feature = "gpu")]
pub(crate) const QUADRATIC: f32 = 25.0;
/// The constant term covers subnormal numbers that are flushed to zero.
#[cfg(feature = "gpu")]
pub(crate) const ABSOLUTE: f32 = 1.0 / (1_u128 << 120) as f32;
/// Squares of relative velocities below this may have lost digits. The filter then takes the
/// start of the step.
pub(crate) const SLOW: f32 = 1.0 / (1_u128 << 88) as f32;
/// For spheres that hardly move relative to each other, one term is this constant times |p|·|v|·dt.
#[cfg(feature = "gpu")]
pub(crate) const SLOWLY: f32 = 2.01;
/// Relative to the sum of the radii and to the relative motion in the step.
#[cfg(feature = "gpu")]
pub(crate) const NEAR_MARGIN: f32 = 1.0 / (1_u32 << 14) as f32;
/// Covers slow motion and losses to underflow.
#[cfg(feature = "gpu")]
pub(crate) const NEAR_LEAST: f32 = 1.0 / (1_u64 << 32) as f32;
#[cfg(all(test, feature = "gpu"))]
mod any_gpu;
#[cfg(all(test, feature = "gpu"))]
pub(crate) mod tests;
