//! `pairs`: tests each proxy (a sphere or one time segment of its path) against its neighbours in
//! the grids. The ball test compares bounding spheres. Pairs that pass it get the swept test of the
//! moving spheres. Twin of `shaders/pairs.wgsl`.
//!
//! [`find`] divides the search among tasks. A [`task`] searches for neighbours, collects the pairs
//! that pass the ball test in [`near`], and passes them to the [`sweeper`] for the swept test.
//! [`tally`](mod@tally) only counts the candidate pairs.

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
