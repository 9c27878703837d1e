//! The exact answer for a pair, from the float32 inputs as they are: whether two spheres
//! touch, when and how deep; and the list of collisions made of the reported pairs. Both
//! backends use it, so their lists are the same bits.
//!
//! The order in which arithmetic is tried:
//!
//! - On the CPU balls and paths discard what is far apart, and [`sweep`] decides most of the
//!   rest, two pairs at a time. What it leaves open goes to [`impact()`];
//!   pairs that several segments may report do so later, through [`decide_reported`].
//! - On a GPU a filter in float32 discards what certainly misses. Every pair that it reports
//!   goes to the host, and there through [`decide_reported`] to [`impact()`].
//! - [`impact()`] tries `just_touch` first, then [`float64`] with an error bound, and where that
//!   leaves doubt, [`integers`].
//!
//! docs/exact.md has the proof.

mod answer;
mod decide;
mod float64;
mod impact;
mod integers;
mod two_pairs;

#[cfg(test)]
pub(crate) use self::answer::Arithmetic;
pub(crate) use self::answer::{Impact, Touch};
#[cfg(feature = "gpu")]
pub(crate) use self::decide::decide_reported_with;
pub(crate) use self::decide::{GRAZING, Grazing, ReportedPair, decide_reported};
pub use self::impact::time_of_impact;
pub(crate) use self::impact::{first_touch, impact};
pub(crate) use self::two_pairs::sweep;
