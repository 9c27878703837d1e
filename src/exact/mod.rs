//! Decides without error, from the float32 inputs, whether two spheres touch, when and how deep.
//! Both backends (CPU and GPU) use this module, so their lists are bitwise equal. docs/exact.md has
//! the proof.
//!
//! Each pair is decided by the fastest computation that is accurate enough:
//!
//! - On the CPU, [`sweep`] decides most pairs, two at a time, and [`impact()`] the rest.
//! - A GPU decides most pairs itself, with integers. [`settle`] decides those that it leaves open.
//! - [`impact()`] first tries whether the spheres just touch. Then it uses [`float64`] with an
//!   error bound, and [`integers`] if the bound allows no decision.
//! - [`parts`] decides whether spheres that touch at the start approach each other.
//! - [`decide_reported`] decides the pairs that the CPU may find more than once, and [`decide_step`] all pairs that
//!   a software adapter finds.

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
