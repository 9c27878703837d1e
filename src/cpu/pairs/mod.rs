//! `pairs`: tests each proxy (a sphere or one time segment of its path) against its neighbours in
//! the grids: first by their bounding spheres (the ball test), then by the swept test of the moving
//! spheres. Twin of `shaders/pairs.wgsl`, `shaders/pairs_periodic.wgsl` and
//! `shaders/shared/search.wgsl`.
//!
//! [`find`] divides the search among tasks. A [`task`] collects in [`near`] the pairs that pass the
//! ball test, and the [`sweeper`] applies the swept test. [`tally`](mod@tally) only counts the
//! candidate pairs.

mod find;
mod found;
mod near;
mod search;
mod sweeper;
mod tally;
mod task;

pub(super) use self::find::find_pairs;
pub(super) use self::found::{FoundPairs, PairCounts};
pub(super) use self::search::PairSearch;
pub(super) use self::tally::tally;
