//! Constants of the filter: the float32 test on a GPU of whether two moving spheres touch
//! (`shaders/shared/filter.wgsl`). docs/exact.md (section 1) proves the bounds. The CPU tests in
//! float64 instead, see [`exact`](crate::exact).

/// Largest relative error of one float32 operation in WGSL, twice that of rounding to nearest,
/// because WGSL guarantees no rounding mode.
pub(crate) const EPSILON: f32 = f32::EPSILON;
/// [`EPSILON`] plus 0.1 %, which covers second-order terms and the rounding of the error bound
/// itself.
#[cfg(feature = "gpu")]
pub(crate) const ROUNDING: f32 = 1.001 * EPSILON;
/// Factor in the error bound of r² − q·q in the filter (a float32 touch test), in units of
/// ε·(|p| + 2|v|t)·|q|. p and v are the relative position and velocity of two spheres, r is the sum
/// of their radii, t the time of their closest approach, q = p + v·t, and ε = 2⁻²³.
#[cfg(feature = "gpu")]
pub(crate) const LINEAR: f32 = 2.0;
/// Factor in the error bound of r² − q·q in the filter (a float32 touch test), in units of ε·(r² +
/// q·q). r is the sum of the radii, q the relative position at the closest approach, and ε = 2⁻²³.
#[cfg(feature = "gpu")]
pub(crate) const SQUARES: f32 = 5.0;
/// Factor in the error bound of r² − q·q in the filter (a float32 touch test), in units of (ε·(|p|
/// + 2|v|t))². [`LINEAR`] explains the symbols.
#[cfg(feature = "gpu")]
pub(crate) const QUADRATIC: f32 = 25.0;
/// Part of the error bound of the float32 touch test that covers the flushing of subnormal numbers
/// to zero.
#[cfg(feature = "gpu")]
pub(crate) const ABSOLUTE: f32 = 1.0 / (1_u128 << 120) as f32;
/// Smallest square of a relative velocity that has lost no digits to underflow. For slower pairs,
/// the float32 touch test takes the start of the step as the time of closest approach.
pub(crate) const SLOW: f32 = 1.0 / (1_u128 << 88) as f32;
/// Factor in the error bound of the float32 touch test for pairs slower than [`SLOW`], in units of
/// |p|·|v|·dt, where p and v are the relative position and velocity: 2, and a little more for
/// rounding.
#[cfg(feature = "gpu")]
pub(crate) const SLOWLY: f32 = 2.01;
/// Relative margin of the coarse test (`shaders/shared/near.wgsl`) that precedes the float32 touch
/// test, as a fraction of the sum of the radii and of the relative motion of two spheres.
#[cfg(feature = "gpu")]
pub(crate) const NEAR_MARGIN: f32 = 1.0 / (1_u32 << 14) as f32;
/// Absolute margin of the coarse test that precedes the float32 touch test. It covers the motion of
/// slow pairs and losses to underflow.
#[cfg(feature = "gpu")]
pub(crate) const NEAR_LEAST: f32 = 1.0 / (1_u64 << 32) as f32;
#[cfg(all(test, feature = "gpu"))]
mod any_gpu;
#[cfg(all(test, feature = "gpu"))]
mod tests;
