//! `pairs`: tests every proxy against the proxies in its reach. The ball test of the bounding
//! spheres comes first. Pairs that pass it get the swept test of the moving spheres, which decides
//! most of these pairs. Twin of `shaders/pairs.wgsl`.
//!
//! [`find`] divides the proxies among tasks. A [`task`] searches for the neighbours of its proxies,
//! collects the pairs that pass the ball test in [`near`], and passes them to the [`sweeper`] for
//! the swept test. [`tally`](mod@tally) only counts the candidates.

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
