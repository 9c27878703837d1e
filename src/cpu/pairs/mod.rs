//! Tests each proxy against its neighbours, first by the ball test and then by the sweep. Twin of
//! `shaders/collide/pairs.wgsl`, `shaders/periodic/pairs_periodic.wgsl` and `shaders/shared/search.wgsl`.
//!
//! [`find`] divides the search among tasks. A [`task`] collects in [`near`] the pairs whose balls
//! meet, and the [`sweeper`] applies the sweep. [`tally`](mod@tally) only counts the candidates.

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
