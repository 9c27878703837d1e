//! The exact answer for a pair, from the float32 inputs as they are: whether two spheres
//! touch, when and how deep; and the list of collisions made of the reported pairs. Both
//! backends use it, so their lists are the same bits.
//!
//! Float64 decides and rounds where its error bound allows ([`float64`]), and
//! integers elsewhere ([`integers`]). docs/exact.md has the proof.

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
pub(crate) use self::decide::decide;
pub(crate) use self::decide::{GRAZING, Grazing, ReportedPair, decide_step};
pub use self::impact::time_of_impact;
pub(crate) use self::impact::{first_touch, impact};
pub(crate) use self::two_pairs::sweep;
