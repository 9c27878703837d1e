//! `pairs`: tests every proxy against the proxies in its reach. The ball test comes first. Pairs
//! that pass it take the swept test, which decides most of them at once. Twin of
//! `shaders/pairs.wgsl`.
//!
//! [`tally`](mod@tally) only counts the candidates. [`find`] divides the proxies among tasks. A
//! [`task`] searches for the partners of its proxies, collects pairs that pass the ball test in
//! [`near`], and passes them to the [`sweeper`].

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
