//! Constants of the float32 test by which a GPU tells whether two moving spheres touch (the filter,
//! `shaders/shared/filter.wgsl`). docs/exact.md (section 1) proves the bounds.

/// Largest relative error of one float32 operation in WGSL. It is twice that of rounding to
/// nearest, because WGSL guarantees no rounding mode.
pub(crate) const EPSILON: f32 = f32::EPSILON;
/// Unit of the error bound of the float32 touch test: the largest relative error of one float32
/// operation, plus 0.1 %. The 0.1 % covers products of rounding errors, and the rounding in the
/// computation of the bound.
#[cfg(feature = "gpu")]
pub(crate) const ROUNDING: f32 = 1.001 * EPSILON;
/// The float32 touch test of two spheres computes r² − q·q. One term of its error bound is this
/// constant times ε·(|p| + 2|v|t)·|q|, with ε = 2⁻²³. Here, p and v are the relative position and
/// velocity of the spheres, and r is the sum of their radii. At the time t of their closest
/// approach, their relative position is q = p + v·t.
#[cfg(feature = "gpu")]
pub(crate) const LINEAR: f32 = 2.0;
/// One term of the error bound of the float32 touch test is this constant times ε·(r² + q·q), with
/// ε = 2⁻²³. Here, r is the sum of the radii of two spheres, and q is their relative position at
/// the closest approach.
#[cfg(feature = "gpu")]
pub(crate) const SQUARES: f32 = 5.0;
/// One term of the error bound of the float32 touch test is this constant times (ε·(|p| + 2|v|t))²,
/// with ε = 2⁻²³. Here, p and v are the relative position and velocity of two spheres, and t is the
/// time of their closest approach.
#[cfg(feature = "gpu")]
pub(crate) const QUADRATIC: f32 = 25.0;
/// Constant term in the error bound of the float32 touch test. It covers subnormal numbers that are
/// flushed to zero.
#[cfg(feature = "gpu")]
pub(crate) const ABSOLUTE: f32 = 1.0 / (1_u128 << 120) as f32;
/// Squares of relative velocities below this number may have lost digits to underflow. The time of
/// the closest approach cannot be computed from such a square. So the float32 touch test takes the
/// start of the step as that time.
pub(crate) const SLOW: f32 = 1.0 / (1_u128 << 88) as f32;
/// For two spheres that hardly move relative to each other, one term of the error bound of the
/// float32 touch test is this constant times |p|·|v|·dt. Here, p and v are their relative position
/// and velocity, and dt is the duration of the step.
#[cfg(feature = "gpu")]
pub(crate) const SLOWLY: f32 = 2.01;
/// Margin of a coarse test (`shaders/shared/near.wgsl`) that precedes the float32 touch test of two
/// spheres. It is relative to the sum of their radii and to their relative motion in the step.
#[cfg(feature = "gpu")]
pub(crate) const NEAR_MARGIN: f32 = 1.0 / (1_u32 << 14) as f32;
/// Absolute margin of the coarse test of two spheres that precedes the float32 touch test. It
/// covers slow motion and losses to underflow.
#[cfg(feature = "gpu")]
pub(crate) const NEAR_LEAST: f32 = 1.0 / (1_u64 << 32) as f32;
#[cfg(all(test, feature = "gpu"))]
mod any_gpu;
#[cfg(all(test, feature = "gpu"))]
mod tests;
