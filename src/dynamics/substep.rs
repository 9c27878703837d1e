//! A substep: searches for candidates, unless those of an earlier search suffice, and replays
//! islands until no two islands meet.

use rayon::prelude::*;

use super::candidates::Candidates;
use super::islands::Islands;
use super::merge::settle;
use super::narrow::narrow;
use super::pace::Load;
use super::rows::{SUBSTEP, push};
use super::start::Start;
use super::straight::Straight;
use super::work::Work;
use crate::memory::{allocate, collect, collect_in_parallel};
use crate::{Detector, Error};

/// Number of spheres that a thread tests at a time.
const SPHERES: usize = 1024;

/// Working memory and result of a substep.
#[derive(Debug, Default)]
pub(crate) struct Substep {
    pub(crate) candidates: Candidates,
    pub(crate) islands: Islands,
}

impl Substep {
    /// Finds the impacts of a substep. Returns the number of rounds in which islands of spheres were
    /// replayed, or `None` if the caller's function `accept` rejects the substep because it has too many
    /// predicted impacts. If new candidates are needed, the search covers all motion of the next `horizon`
    /// units of time, so that its candidates serve several substeps.
    pub(crate) fn run(
        &mut self,
        detector: &mut Detector,
        start: &Start<'_>,
        horizon: f64,
        accept: impl FnOnce(Load) -> bool,
    ) -> Result<Option<u64>, Error> {
        let Self {
            candidates,
            islands,
        } = self;
        let count = start.spheres.len();
        candidates.work.add(Work::SPHERE, count as u64);
        let searched = !candidates.cover(start.time, start.duration, count);
        if searched {
            let found = candidates.search(detector, start, horizon);
            if horizon > start.duration && found.is_err() {
                // The search for the candidates of several substeps returned an error, such as too
                // many pairs. A search for only this substep uses smaller pads, so it finds fewer
                // pairs and periodic images.
                candidates.search(detector, start, start.duration)?;
            } else {
                found?;
            }
        }
        let setting = start.setting(candidates);

        let chunks = (0..count).into_par_iter().step_by(SPHERES);
        let straight = chunks.map(|first| {
            let mut straight = Straight::default();
            for index in first..count.min(first + SPHERES) {
                if !start.removed[index] {
                    setting.test_straight(narrow(index), &mut straight)?;
                }
            }
            Ok(straight)
        });
        let found = collect_in_parallel(straight, SUBSTEP)?;
        let mut straight: Vec<Straight> = allocate(found.len() + 1, SUBSTEP)?;
        for part in found {
            straight.push(part?);
        }
        let mut leavers = Vec::new();
        for &leaver in straight.iter().flat_map(|straight| &straight.leavers) {
            push(&mut leavers, leaver)?;
        }
        let new = candidates.widen(detector, start, &leavers)?;
        let setting = start.setting(candidates);
        let mut later = Straight::default();
        for candidate in &new {
            if let Some(time) = setting.hit(candidate) {
                later.note(time > 0.0, candidate.ends())?;
            }
        }
        straight.push(later);
        let load = Load {
            spheres: start.present(),
            pairs: candidates.pairs(),
            searched,
            hits: straight.iter().map(|straight| straight.ahead).sum(),
        };
        if !accept(load) {
            return Ok(None);
        }

        islands.reset(count)?;

        let hits = collect(straight.into_iter().map(|straight| straight.hits), SUBSTEP)?;
        settle(&hits, start, candidates, islands, detector).map(Some)
    }
}
