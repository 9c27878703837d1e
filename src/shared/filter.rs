//! Constants of the filter: the float32 test on a GPU of whether two moving spheres touch.
//! docs/exact.md (section 1) proves the bounds. The test itself is in `shaders/shared/filter.wgsl`.
//! The CPU tests in float64 instead, see [`exact`](crate::exact).

/// Largest relative error of one float32 operation in WGSL: 2⁻²³. It is twice the error of rounding
/// to nearest, because WGSL guarantees no rounding mode.
pub(crate) const EPSILON: f32 = f32::EPSILON;
/// The rounding error 2⁻²³ of one operation in the error bounds, plus 0.1 % for second-order terms
/// and for the rounding of the bound itself.
#[cfg(feature = "gpu")]
pub(crate) const ROUNDING: f32 = 1.001 * EPSILON;
/// Factor of the first term of the error bound of the margin r² − q·q, in units of ε·(|p| +
/// 2|v|t)·|q|. p, v and r are the relative position, the relative velocity and the sum of the radii
/// of two spheres. t is the time of their closest approach, q = p + v·t, and ε is 2⁻²³.
#[cfg(feature = "gpu")]
pub(crate) const LINEAR: f32 = 2.0;
/// Factor of the term for the two squares in the error bound of the filter's margin r² − q·q, in
/// units of ε·(r² + q·q). [`LINEAR`] explains the symbols.
#[cfg(feature = "gpu")]
pub(crate) const SQUARES: f32 = 5.0;
/// Factor of the quadratic term of the error bound of the filter's margin r² − q·q, in units of
/// (ε·(|p| + 2|v|t))². [`LINEAR`] explains the symbols.
#[cfg(feature = "gpu")]
pub(crate) const QUADRATIC: f32 = 25.0;
/// Constant term of the error bound of the filter's margin: the largest error that arises when
/// subnormal numbers are flushed to zero.
#[cfg(feature = "gpu")]
pub(crate) const ABSOLUTE: f32 = 1.0 / (1_u128 << 120) as f32;
/// Smallest v·v that has lost no digits to underflow, where v is the relative velocity of two
/// spheres. For a smaller v·v, the start of the step is used as the time of closest approach.
pub(crate) const SLOW: f32 = 1.0 / (1_u128 << 88) as f32;
/// Factor of an additional term of the error bound of the filter's margin r² − q·q, for pairs of
/// spheres with v·v < [`SLOW`]. The unit is |p|·|v|·dt, where p and v are the relative position and
/// velocity. The factor is 2 and a little more for rounding.
#[cfg(feature = "gpu")]
pub(crate) const SLOWLY: f32 = 2.01;
/// Relative margin of the near test, a coarse test before the filter (`shaders/shared/near.wgsl`).
/// It is a fraction of the sum of the radii and of the relative motion of the two spheres.
#[cfg(feature = "gpu")]
pub(crate) const NEAR_MARGIN: f32 = 1.0 / (1_u32 << 14) as f32;
/// Absolute margin of the near test, a coarse test before the filter. It covers the motion of slow
/// pairs and all losses to underflow.
#[cfg(feature = "gpu")]
pub(crate) const NEAR_LEAST: f32 = 1.0 / (1_u64 << 32) as f32;
#[cfg(all(test, feature = "gpu"))]
mod any_gpu;
#[cfg(all(test, feature = "gpu"))]
mod tests;
