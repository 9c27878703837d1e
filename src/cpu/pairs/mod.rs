//! `pairs`: tests every proxy against those in reach of it: by their balls first, and those
//! that pass with the swept test, which decides most of them at once. Twin of
//! `shaders/pairs.wgsl`.
//!
//! [`tally`](mod@tally) counts the candidates alone. [`find`] shares out the proxies among tasks. A
//! [`task`] searches for the partners of its proxies, collects those whose balls meet in
//! [`near`], and hands these to the [`sweeper`].

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
