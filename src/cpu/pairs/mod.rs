//! Tests each sphere or time segment against its neighbours in the grids. The first test (the ball
//! test) compares bounding spheres, and the second (the swept test) the moving spheres themselves.
//! Twin of `shaders/pairs.wgsl`, `shaders/pairs_periodic.wgsl` and `shaders/shared/search.wgsl`.
//!
//! [`find`] divides the search among tasks. A [`task`] collects in [`near`] the pairs whose
//! bounding spheres meet, and the [`sweeper`] applies the swept test. [`tally`](mod@tally) only
//! counts the candidate pairs.

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
