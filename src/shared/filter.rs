//! Constants of the filter, the float32 test by which a GPU tells whether two moving spheres touch
//! (`shaders/shared/filter.wgsl`). docs/exact.md (section 1) proves the bounds.

/// Largest relative error of one float32 operation in WGSL, twice that of rounding to nearest,
/// because WGSL guarantees no rounding mode.
pub(crate) const EPSILON: f32 = f32::EPSILON;
/// Largest relative error of a float32 operation, plus 0.1 % for second-order terms and for the
/// rounding of the error bound itself.
#[cfg(feature = "gpu")]
pub(crate) const ROUNDING: f32 = 1.001 * EPSILON;
/// The float32 touch test computes r² − q·q. Its error bound is a sum of terms. One term is this
/// factor times ε·(|p| + 2|v|t)·|q|. p and v are the relative position and velocity of two spheres,
/// r is the sum of their radii, t the time of their closest approach, q = p + v·t, and ε = 2⁻²³.
#[cfg(feature = "gpu")]
pub(crate) const LINEAR: f32 = 2.0;
/// Factor of ε·(r² + q·q) in the error bound of the float32 touch test. r is the sum of the radii,
/// q the relative position at the closest approach, and ε = 2⁻²³.
#[cfg(feature = "gpu")]
pub(crate) const SQUARES: f32 = 5.0;
/// Factor of (ε·(|p| + 2|v|t))² in the error bound of the float32 touch test. [`LINEAR`] explains
/// the symbols.
#[cfg(feature = "gpu")]
pub(crate) const QUADRATIC: f32 = 25.0;
/// Term in the error bound of the float32 touch test, for subnormal numbers that are flushed to
/// zero.
#[cfg(feature = "gpu")]
pub(crate) const ABSOLUTE: f32 = 1.0 / (1_u128 << 120) as f32;
/// Smallest square of a relative velocity that has lost no digits to underflow. For slower pairs,
/// the float32 touch test takes the start of the step as the time of closest approach.
pub(crate) const SLOW: f32 = 1.0 / (1_u128 << 88) as f32;
/// Factor of |p|·|v|·dt in the error bound of the float32 touch test for two spheres that hardly
/// move relative to each other. p and v are the relative position and velocity.
#[cfg(feature = "gpu")]
pub(crate) const SLOWLY: f32 = 2.01;
/// A coarse test (`shaders/shared/near.wgsl`) precedes the float32 touch test. This is its relative
/// margin, as a fraction of the sum of the radii and of the relative motion of two spheres.
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
