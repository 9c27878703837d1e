//! Decides without error, from the float32 inputs, whether two spheres touch, when and how deep.
//! Both backends (CPU and GPU) use this module, so their lists are bitwise equal. docs/exact.md has
//! the proof.
//!
//! Each pair is decided by the fastest computation that is accurate enough. The following list
//! states the order in which carom tries these computations.
//!
//! - On the CPU, tests of bounding spheres and paths discard pairs that are far apart. [`sweep`]
//!   decides most of the other pairs, two at a time. [`impact()`] decides the rest.
//! - On a GPU, a float32 test discards pairs that certainly miss. The host decides the other pairs,
//!   also by [`sweep`] and [`impact()`].
//! - [`impact()`] first tries whether the spheres just touch. Then it uses [`float64`] with an
//!   error bound, and [`integers`] if the bound allows no decision.
//! - A GPU may also decide pairs itself, with integers. [`settle`] decides those that it leaves open.
//! - [`parts`] decides whether spheres that touch at the start approach each other.
//! - [`decide_reported`] decides a whole list of pairs. This is the list that a GPU makes, or on
//!   the CPU the list of pairs that may be found more than once.

mod answer;
mod decide;
mod float64;
mod impact;
pub(crate) mod integers;
mod listed;
mod parting;
mod shift;
mod two_pairs;

pub(crate) use self::answer::{Arithmetic, Hit, Touch};
pub(crate) use self::decide::{Grazing, decide_reported};
#[cfg(feature = "gpu")]
pub(crate) use self::decide::{Listing, SettledPairs, Settling, decide_step, scaled, settle};
pub use self::impact::toi;
pub(crate) use self::impact::{first_touch, impact};
pub(crate) use self::listed::{GRAZING, ImageCollision, Listed, Report, ReportedPair};
pub(crate) use self::parting::parts;
pub(crate) use self::shift::{Shift, Translation};
pub(crate) use self::two_pairs::{Swept, sweep};
