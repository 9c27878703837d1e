//! Exact results for pairs of spheres, from the unmodified float32 inputs: whether two spheres
//! touch, the time of impact and the penetration depth. This module also makes the list of
//! collisions from the reported pairs. Both backends use it, so their lists are bitwise equal.
//!
//! The arithmetic is tried in this order:
//!
//! - On the CPU, the tests of balls (bounding spheres) and paths discard pairs that are far apart.
//!   Then [`sweep`] decides most of the other pairs, two at a time. [`impact()`] decides the pairs
//!   that are still undecided. It decides them at once, unless several time segments may report the
//!   pair. Such pairs are decided later, through [`decide_reported`].
//! - On a GPU, a filter in float32 discards pairs that certainly miss. The host decides every pair
//!   that the GPU reports, by [`impact()`], through [`decide_reported`].
//! - [`impact()`] tries `just_touch` first, then [`float64`] with an error bound, and last, where
//!   this bound is not small enough for a decision, [`integers`].
//!
//! docs/exact.md has the proof.

mod answer;
mod decide;
mod float64;
mod impact;
mod integers;
mod listed;
mod shift;
mod two_pairs;

#[cfg(test)]
pub(crate) use self::answer::Arithmetic;
pub(crate) use self::answer::{Impact, Touch};
#[cfg(feature = "gpu")]
pub(crate) use self::decide::decide_reported_with;
pub(crate) use self::decide::{GRAZING, Grazing, ReportedPair, decide_reported};
pub use self::impact::time_of_impact;
pub(crate) use self::impact::{first_touch, impact};
pub(crate) use self::listed::{ImageCollision, Listed, Report};
pub(crate) use self::shift::{Shift, Translation};
pub(crate) use self::two_pairs::{Swept, sweep};
