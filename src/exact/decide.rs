//! Tests in exact arithmetic the pairs of spheres that a search has reported, and lists the pairs
//! that touch. Twin of `shaders/collide/decide.wgsl`.

use rayon::prelude::*;

use super::answer::{Arithmetic, Hit};
use super::impact::impact;
use super::listed::{GRAZING, ImageCollision, Listed, Report, ReportedImage, ReportedPair};
use super::two_pairs::{Swept, sweep};
use crate::memory::{LIST, allocate, resized};
use crate::reduce::sort::sort;
use crate::shared::sets::Sets;
use crate::step::CheckedStep;
use crate::{Collision, Domain, Error, Sphere};

/// Pairs that the first test (in float32 on a GPU, in float64 on the CPU) could not decide.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Grazing {
    pub(crate) all: u64,
    pub(crate) by_integers: u64,
}

impl Grazing {
    pub(crate) fn count(&mut self, arithmetic: Arithmetic) {
        self.all += 1;
        self.by_integers += u64::from(arithmetic == Arithmetic::Integers);
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            by_integers: self.by_integers + other.by_integers,
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Counts {
    grazing: Grazing,
    misses: usize,
    /// Pairs that the GPU has decided wrongly.
    wrong: usize,
}

impl Counts {
    fn plus(self, other: Self) -> Self {
        Self {
            grazing: self.grazing.plus(other.grazing),
            misses: self.misses + other.misses,
            wrong: self.wrong + other.wrong,
        }
    }
}

/// Even, because pairs are tested two at a time.
const TASK: usize = 4096;

/// If pairs are checked, the host decides one of so many pairs that a GPU has decided.
#[cfg(feature = "gpu")]
const CHECKED: usize = 1024;

const MISS: Collision = Collision {
    a: u32::MAX,
    b: u32::MAX,
    toi: 0.0,
    depth: 0.0,
};

/// Decides exactly which of the reported pairs touch ([`impact`]), and fills `pairs` with
/// these, sorted and without repeats. `spheres` returns the spheres of a report, or `None` if
/// the pair is to be skipped.
pub(crate) fn decide_reported_with<R: Report>(
    spheres: impl Fn(u32, u32) -> Option<[Sphere; 2]> + Sync,
    (sets, domain, dt, enclosing): Request<'_>,
    reported: &mut Vec<R>,
    pairs: &mut Vec<R::Listed>,
) -> Result<Grazing, Error> {
    let b_offset = u32::try_from(sets.b_offset()).unwrap_or(u32::MAX);
    // A pair may be reported with the flag [`GRAZING`] and without it. This affects only the
    // count of grazing pairs.
    sort(reported, R::key);
    let tasks = resized(pairs, reported.len(), LIST)?
        .par_chunks_mut(TASK)
        .zip(reported.par_chunks(TASK));
    let counts = tasks.map(|(pairs, reported)| {
        let mut counts = Counts::default();
        for (pairs, reported) in pairs.chunks_mut(2).zip(reported.chunks(2)) {
            // The last pair may be alone, and is tested twice.
            let two = [reported[0], reported[reported.len() - 1]];
            let found = two.map(|report| {
                let ReportedPair { a, b } = report.pair();
                spheres(a, b & !GRAZING)
            });
            let shifts = two.map(|report| report.shift(domain));
            let swept = match &found {
                [Some([a, b]), Some([c, d])] => sweep([[a, b], [c, d]], shifts, dt),
                _ => Swept::default(),
            };
            for (lane, (pair, report)) in pairs.iter_mut().zip(reported).enumerate() {
                *pair = R::Listed::new(MISS, report.image());
                let ReportedPair { a, b } = report.pair();
                let (certain, b) = (b & GRAZING == 0, b & !GRAZING);
                let Some([one, other]) = &found[lane] else {
                    counts.misses += 1;
                    continue;
                };
                let has = |lanes: usize| lanes >> lane & 1 == 1;
                let (impact, arithmetic) = match (has(swept.hits), has(swept.misses)) {
                    (true, _) => (Some(swept.impacts[lane]), Arithmetic::Float64),
                    (_, true) => (None, Arithmetic::Float64),
                    _ if enclosing => (Some(Hit::default()), Arithmetic::Float64),
                    _ => impact(one, other, shifts[lane], dt),
                };
                if !certain {
                    counts.grazing.count(arithmetic);
                }
                let Some(Hit { toi, depth }) = impact else {
                    counts.misses += 1;
                    if certain {
                        log_false_hit(a, b);
                    }
                    continue;
                };
                let collision = Collision {
                    a,
                    b: b.saturating_sub(b_offset),
                    toi,
                    depth,
                };
                *pair = R::Listed::new(collision, report.image());
            }
        }
        counts
    });
    let counts = counts.reduce(Counts::default, Counts::plus);
    // A pass of one thread over the whole list.
    if counts.misses > 0 {
        pairs.retain(|pair| pair.pair().a != MISS.a);
    }
    Ok(counts.grazing)
}

/// docs/exact.md proves this impossible. The list is correct in any case.
#[cold]
fn log_false_hit(a: u32, b: u32) {
    log::error!("the GPU reported ({a}, {b}) as a certain hit, but they do not touch");
}

pub(crate) fn decide_reported<R: Report>(
    step: &CheckedStep<'_>,
    reported: &mut Vec<R>,
    pairs: &mut Vec<R::Listed>,
) -> Result<Grazing, Error> {
    decide_reported_with(spheres_of(step.spheres), request(step), reported, pairs)
}

/// The sets, the domain, the duration, and whether the spheres enclose those of a step in
/// float64. Then a pair that float64 does not decide is kept.
type Request<'a> = (Sets, &'a Domain, f32, bool);

fn request<'a>(step: &'a CheckedStep<'_>) -> Request<'a> {
    (step.sets, &step.domain, step.dt, step.enclosing)
}

fn spheres_of(spheres: &[Sphere]) -> impl Fn(u32, u32) -> Option<[Sphere; 2]> {
    let sphere = |index: u32| spheres.get(index as usize).copied();
    move |a, b| Some([sphere(a)?, sphere(b)?])
}

/// As [`decide_reported_with`], and fills `images`, in a periodic domain.
#[cfg_attr(
    not(feature = "gpu"),
    allow(dead_code, reason = "only the GPU backend makes these lists")
)]
pub(crate) fn decide(
    (reported, reported_images): (&mut Vec<ReportedPair>, &[[i32; 3]]),
    spheres: impl Fn(u32, u32) -> Option<[Sphere; 2]> + Sync,
    request: Request<'_>,
    pairs: &mut Vec<Collision>,
    images: &mut Vec<[i32; 3]>,
) -> Result<Grazing, Error> {
    images.clear();
    if reported_images.is_empty() {
        return decide_reported_with(spheres, request, reported, pairs);
    }
    let mut with_images = allocate(reported.len(), "the pairs found")?;
    let reported = reported.iter().zip(reported_images);
    with_images.extend(reported.map(|(&pair, &image)| ReportedImage::new(pair, image)));
    let mut listed: Vec<ImageCollision> = Vec::new();
    let grazing = decide_reported_with(spheres, request, &mut with_images, &mut listed)?;
    resized(pairs, listed.len(), LIST)?;
    resized(images, listed.len(), LIST)?;
    for ((listed, pair), image) in listed.iter().zip(pairs).zip(images) {
        (*pair, *image) = (*listed.pair(), listed.image);
    }
    Ok(grazing)
}

#[cfg(feature = "gpu")]
pub(crate) struct Settling<'a> {
    pub(crate) domain: &'a Domain,
    pub(crate) dt: f32,
    pub(crate) times: f32,
    /// To find errors of drivers.
    pub(crate) checked: bool,
}

#[cfg(feature = "gpu")]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SettledPairs {
    pub(crate) grazing: Grazing,
    /// A checked pair was wrong, so others may be.
    pub(crate) wrong: bool,
}

/// Decides the pairs that a GPU has left open, which have the flag [`GRAZING`] in `b`, and
/// sorts the list, without repeats. `images` may be empty in open space.
#[cfg(feature = "gpu")]
pub(crate) fn settle(
    spheres: impl Fn(u32, u32) -> Option<[Sphere; 2]> + Sync,
    step: &Settling<'_>,
    pairs: &mut Vec<Collision>,
    images: &mut Vec<[i32; 3]>,
) -> Result<SettledPairs, Error> {
    if images.is_empty() {
        return settle_listed(spheres, step, pairs);
    }
    let mut listed: Vec<ImageCollision> = allocate(pairs.len(), LIST)?;
    let all = pairs.iter().zip(images.iter());
    listed.extend(all.map(|(&pair, &image)| ImageCollision::new(pair, image)));
    let settled = settle_listed(spheres, step, &mut listed)?;
    pairs.clear();
    crate::memory::extend(pairs, listed.iter().map(|listed| *listed.pair()), LIST)?;
    images.clear();
    crate::memory::extend(images, listed.iter().map(|listed| listed.image), LIST)?;
    Ok(settled)
}

#[cfg(feature = "gpu")]
fn settle_listed<L: Listed>(
    spheres: impl Fn(u32, u32) -> Option<[Sphere; 2]> + Sync,
    step: &Settling<'_>,
    pairs: &mut Vec<L>,
) -> Result<SettledPairs, Error> {
    sort(pairs, |pair: &L| pair.report().key());
    let counts = pairs.par_chunks_mut(TASK).map(|pairs| {
        let mut counts = Counts::default();
        for (index, listed) in pairs.iter_mut().enumerate() {
            let report = listed.report();
            let ReportedPair { a, b } = report.pair();
            let open = b & GRAZING != 0;
            let is_checked = step.checked && index % CHECKED == 0;
            if !open && !is_checked {
                continue;
            }
            let b = b & !GRAZING;
            let shift = report.shift(step.domain);
            let Some([one, other]) = spheres(a, b) else {
                if open {
                    return Err(Error::device("a pair that was read back lacks its spheres"));
                }
                counts.wrong += 1;
                continue;
            };
            let (found, arithmetic) = impact(&one, &other, shift, step.dt);
            if open {
                counts.grazing.count(arithmetic);
            }
            counts.misses += usize::from(found.is_none());
            let pair = found.map_or(MISS, |Hit { toi, depth }| Collision {
                a,
                b,
                toi: scaled(toi, step.times),
                depth,
            });
            if !open && pair != *listed.pair() {
                counts.wrong += 1;
                log_wrong_pair(listed.pair(), found);
            }
            *listed = L::new(pair, report.image());
        }
        Ok(counts)
    });
    let counts = counts.try_reduce(Counts::default, |one, other| Ok(one.plus(other)))?;
    if counts.misses > 0 {
        pairs.retain(|pair| pair.pair().a != MISS.a);
    }
    Ok(SettledPairs {
        grazing: counts.grazing,
        wrong: counts.wrong > 0,
    })
}

/// docs/exact.md proves this impossible, unless the driver has errors.
#[cfg(feature = "gpu")]
#[cold]
fn log_wrong_pair(listed: &Collision, found: Option<Hit>) {
    log::error!("the GPU has decided a pair wrongly: {listed:?} instead of {found:?}");
}

/// The result is the nearest float32.
#[cfg(feature = "gpu")]
#[allow(clippy::cast_possible_truncation, reason = "rounding is intended")]
pub(crate) fn scaled(toi: f32, times: f32) -> f32 {
    // Exact in float64. Adding 0.0 turns −0 into 0.
    (f64::from(toi) * f64::from(times) + 0.0) as f32
}

#[cfg_attr(
    not(feature = "gpu"),
    allow(dead_code, reason = "only the GPU backend makes these lists")
)]
pub(crate) fn decide_step(
    step: &CheckedStep<'_>,
    reported: (&mut Vec<ReportedPair>, &[[i32; 3]]),
    pairs: &mut Vec<Collision>,
    images: &mut Vec<[i32; 3]>,
) -> Result<Grazing, Error> {
    decide(
        reported,
        spheres_of(step.spheres),
        request(step),
        pairs,
        images,
    )
}
