//! From the reported pairs to the list of collisions.

use rayon::prelude::*;

use super::answer::{Arithmetic, Impact};
use super::impact::impact;
use crate::memory::{LIST, resized};
use crate::reduce::sort::sort;
use crate::shared::sets::Sets;
use crate::step::CheckedStep;
use crate::{Collision, Error, Sphere};

/// Set in [`ReportedPair::b`] when a GPU's filter could not decide, or several time segments
/// may report the pair.
pub(crate) const GRAZING: u32 = 1 << 31;

/// A pair as the `pairs` stage reports it: indices into the whole world, a < b.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct ReportedPair {
    /// The smaller index.
    pub(crate) a: u32,
    /// The larger index, and [`GRAZING`].
    pub(crate) b: u32,
}

/// Counts of distinct [`GRAZING`] pairs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Grazing {
    /// All of them.
    pub(crate) all: u64,
    /// Those that float64 could not decide either.
    pub(crate) by_integers: u64,
}

impl Grazing {
    /// Counts one more, which took this arithmetic.
    pub(crate) fn count(&mut self, arithmetic: Arithmetic) {
        self.all += 1;
        self.by_integers += u64::from(arithmetic == Arithmetic::Integers);
    }

    /// The sum of both counts.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            by_integers: self.by_integers + other.by_integers,
        }
    }
}

/// Pairs of a task.
const TASK: usize = 4096;

/// Stands for a pair that does not touch: no sphere has this index.
const MISS: Collision = Collision {
    a: u32::MAX,
    b: u32::MAX,
    toi: 0.0,
    depth: 0.0,
};

/// Decides the reported pairs by [`impact`], and fills `pairs` with those that touch: sorted,
/// and each once. `spheres` gives the two spheres of a pair.
pub(crate) fn decide_reported_with(
    spheres: impl Fn(u32, u32) -> Option<[Sphere; 2]> + Sync,
    sets: Sets,
    dt: f32,
    reported: &mut Vec<ReportedPair>,
    pairs: &mut Vec<Collision>,
) -> Result<Grazing, Error> {
    let b_offset = u32::try_from(sets.b_offset()).unwrap_or(u32::MAX);
    // A pair that several proxies reported is grazing in each of them.
    sort(reported, |pair| [pair.a, pair.b & !GRAZING]);
    let grazing = resized(pairs, reported.len(), LIST)?
        .par_chunks_mut(TASK)
        .zip(reported.par_chunks(TASK))
        .map(|(pairs, reported)| {
            let mut grazing = Grazing::default();
            for (pair, &ReportedPair { a, b }) in pairs.iter_mut().zip(reported) {
                *pair = MISS;
                let (certain, b) = (b & GRAZING == 0, b & !GRAZING);
                let Some([one, other]) = spheres(a, b) else {
                    continue;
                };
                let (impact, arithmetic) = impact(&one, &other, dt);
                if !certain {
                    grazing.count(arithmetic);
                }
                match impact {
                    Some(Impact { toi, depth }) => {
                        *pair = Collision {
                            a,
                            b: b.saturating_sub(b_offset),
                            toi,
                            depth,
                        };
                    }
                    None if certain => log_false_hit(a, b),
                    None => {}
                }
            }
            grazing
        })
        .reduce(Grazing::default, Grazing::plus);
    pairs.retain(|pair| pair.a != MISS.a);
    Ok(grazing)
}

/// Logs that the filter was certain of a pair that does not touch, which docs/exact.md proves
/// impossible. The list is right all the same.
#[cold]
fn log_false_hit(a: u32, b: u32) {
    log::error!("the filter was certain of ({a}, {b}), which do not touch");
}

/// Decides the reported pairs of a step whose spheres are on the host, as
/// [`decide_reported_with`] does.
pub(crate) fn decide_reported(
    step: &CheckedStep<'_>,
    reported: &mut Vec<ReportedPair>,
    pairs: &mut Vec<Collision>,
) -> Result<Grazing, Error> {
    let sphere = |index: u32| step.spheres.get(index as usize).copied();
    let two = |a, b| Some([sphere(a)?, sphere(b)?]);
    decide_reported_with(two, step.sets, step.dt, reported, pairs)
}
