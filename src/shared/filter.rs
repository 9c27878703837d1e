//! Constants of the filter: the swept test of two spheres that a GPU makes in float32, with the
//! verdict miss, hit or grazing. docs/exact.md (section 1) proves the bounds. The test itself is
//! in `shaders/shared/filter.wgsl`. The CPU makes its swept test in float64, see
//! [`exact`](crate::exact).

/// Largest relative error of one float32 operation in WGSL: the distance from 1 to the next
/// float32. It is twice the error of rounding to nearest, because WGSL guarantees no rounding mode.
pub(crate) const EPSILON: f32 = f32::EPSILON;
/// The relative error of one float32 operation as it enters the error bounds: [`EPSILON`], plus 0.1
/// % for second-order terms and for the rounding of the bound itself.
#[cfg(feature = "gpu")]
pub(crate) const ROUNDING: f32 = 1.001 * EPSILON;
/// Linear term of the error bound of the margin r² − q·q, in units of ε·(|p| + 2|v|t)·|q|. p, v and
/// r are the relative position, the relative velocity and the sum of the radii of two spheres. t is
/// the time of their closest approach, q = p + v·t, and ε is [`EPSILON`]. The terms of [`SQUARES`],
/// [`QUADRATIC`] and [`ABSOLUTE`] are added to the bound.
#[cfg(feature = "gpu")]
pub(crate) const LINEAR: f32 = 2.0;
/// Term of the error bound of the filter's margin r² − q·q for the rounding of its two squares, in
/// units of ε·(r² + q·q). [`LINEAR`] explains the symbols.
#[cfg(feature = "gpu")]
pub(crate) const SQUARES: f32 = 5.0;
/// Quadratic term of the error bound of the filter's margin r² − q·q, in units of (ε·(|p| +
/// 2|v|t))². An error of the time of closest approach moves q along v, so its effect on q·q is of
/// second order. [`LINEAR`] explains the symbols.
#[cfg(feature = "gpu")]
pub(crate) const QUADRATIC: f32 = 25.0;
/// Absolute term of the error bound of the filter's margin, 2⁻¹²⁰: the largest error that arises
/// when subnormal numbers are flushed to zero.
#[cfg(feature = "gpu")]
pub(crate) const ABSOLUTE: f32 = 1.0 / (1_u128 << 120) as f32;
/// Smallest v·v, 2⁻⁸⁸, that has lost no digits to underflow, where v is the relative velocity of
/// two spheres. For a smaller v·v the time of closest approach cannot be computed, and the start of
/// the step is used in its place.
pub(crate) const SLOW: f32 = 1.0 / (1_u128 << 88) as f32;
/// Additional term of the error bound of the filter's margin for pairs whose relative velocity v
/// has v·v < [`SLOW`], in units of |p|·|v|·dt, where p is the relative position. It is 2, and a
/// little more for rounding.
#[cfg(feature = "gpu")]
pub(crate) const SLOWLY: f32 = 2.01;
/// Relative margin of the near test (`shaders/shared/near.wgsl`), which precedes the filter, 2⁻¹⁴:
/// a fraction of the sum of the radii, and of the relative motion of the two spheres in the step.
#[cfg(feature = "gpu")]
pub(crate) const NEAR_MARGIN: f32 = 1.0 / (1_u32 << 14) as f32;
/// Absolute margin of the near test, which precedes the filter, 2⁻³². It covers the relative motion
/// of slow pairs and all losses to underflow.
#[cfg(feature = "gpu")]
pub(crate) const NEAR_LEAST: f32 = 1.0 / (1_u64 << 32) as f32;
#[cfg(all(test, feature = "gpu"))]
mod any_gpu;
#[cfg(all(test, feature = "gpu"))]
mod tests;
