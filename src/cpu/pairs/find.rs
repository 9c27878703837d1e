//! Finds all pairs that touch: divides the search among parallel tasks, and joins their results.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³¹ proxies"
)]

use std::sync::{Mutex, PoisonError};

use super::found::{FoundPairs, PairCounts, Progress};
use super::search::PairSearch;
use super::sweeper::TaskOutput;
use super::task::PairTask;
use crate::cpu::images::ProxySpace;
use crate::memory::out_of_memory;
use crate::{Collision, Error};

/// Fills `found`. Returns an error if more than `limit` pairs touch, or if `decide` would have
/// too many reports.
pub(crate) fn find_pairs<S: ProxySpace>(
    search: &PairSearch<'_, S>,
    limit: u64,
    found: &mut FoundPairs<S::Listed>,
) -> Result<PairCounts, Error> {
    let FoundPairs {
        pairs,
        images,
        shared,
        reports,
        images_of_tasks,
    } = found;
    let progress = Progress::new(limit);
    let all = Mutex::new((PairCounts::default(), shared.empty(), images.empty()));
    let make = |number: usize, pairs: &mut Vec<Collision>| {
        let mut reports = reports.take();
        let mut images = images_of_tasks.take();
        let output = TaskOutput {
            pairs,
            images: images.empty(),
            shared: reports.empty(),
        };
        let mut task = PairTask::new(search, &progress, output);
        for index in search.of_task(number) {
            task.search_around(index);
        }
        let counts = task.finish()?;
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.0.candidates += counts.candidates;
        all.0.grazing = all.0.grazing.plus(counts.grazing);
        append(all.1, &reports, "the pairs to decide")?;
        append(all.2, &images, "the pairs with images")
    };
    let first_set = search.step.sets.first_len(search.step.spheres.len());
    pairs.fill(search.tasks(), first_set, first_set, make, |pair| pair.a)?;
    if progress.is_too_much() {
        return Err(Error::TooManyPairs {
            needed: progress.all(),
            limit,
        });
    }
    let (counts, ..) = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(PairCounts {
        pairs: progress.pairs(),
        ..counts
    })
}

fn append<R: Copy>(all: &mut Vec<R>, of_task: &[R], what: &'static str) -> Result<(), Error> {
    let more = of_task.len();
    let room = all.try_reserve(more);
    room.map_err(|_| out_of_memory::<R>(all.len() + more, what))?;
    all.extend_from_slice(of_task);
    Ok(())
}
