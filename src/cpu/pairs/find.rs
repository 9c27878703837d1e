//! Finds all pairs that touch: divides the search among parallel tasks, and joins their results.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies"
)]

use std::sync::{Mutex, PoisonError};

use super::found::{FoundPairs, PairCounts, Progress};
use super::search::PairSearch;
use super::task::Task;
use crate::Error;
use crate::cpu::images::ProxySpace;
use crate::exact::{Listed, Report};
use crate::memory::out_of_memory;

/// Tests all candidates and fills `found` with the pairs that touch. Returns an error if there are
/// more than `limit` of them, or too many reports for the stage `decide`
/// ([`Progress::is_too_much`]).
pub(crate) fn find_pairs<S: ProxySpace>(
    search: &PairSearch<'_, S>,
    limit: u64,
    found: &mut FoundPairs<S::Listed>,
) -> Result<PairCounts, Error> {
    let FoundPairs {
        pairs,
        shared,
        reports,
    } = found;
    let progress = Progress::new(limit);
    let all = Mutex::new((PairCounts::default(), shared.empty()));
    let make = |number: usize, pairs: &mut Vec<S::Listed>| {
        let mut reports = reports.take();
        let mut task = Task::new(search, &progress, pairs, reports.empty());
        for index in search.of_task(number) {
            task.search_around(index);
        }
        let (counts, reports) = task.finish()?;
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.0.candidates += counts.candidates;
        all.0.grazing = all.0.grazing.plus(counts.grazing);
        append(all.1, reports)
    };
    let first_set = search.step.sets.first_len(search.step.spheres.len());
    pairs.fill(search.tasks(), first_set, first_set, make, |pair| {
        pair.pair().a
    })?;
    if progress.is_too_much() {
        return Err(Error::TooManyPairs {
            needed: progress.all(),
            limit,
        });
    }
    let (counts, _) = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(PairCounts {
        pairs: progress.pairs(),
        ..counts
    })
}

fn append<R: Report>(shared: &mut Vec<R>, reports: &[R]) -> Result<(), Error> {
    let more = reports.len();
    let room = shared.try_reserve(more);
    room.map_err(|_| out_of_memory::<R>(shared.len() + more, "the pairs to decide"))?;
    shared.extend_from_slice(reports);
    Ok(())
}
