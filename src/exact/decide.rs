//! Tests in exact arithmetic the pairs of spheres that a search has reported, and lists the pairs
//! that touch. Twin of `shaders/collide/decide.wgsl`.

use rayon::prelude::*;

use super::answer::{Arithmetic, Hit};
use super::impact::impact;
#[cfg(feature = "gpu")]
use super::integers::numbers;
use super::listed::{GRAZING, ImageCollision, Listed, Report, ReportedImage, ReportedPair};
#[cfg(feature = "gpu")]
use super::parting::parts;
#[cfg(feature = "gpu")]
use super::shift::Translation;
use super::two_pairs::{Swept, sweep};
use crate::memory::{LIST, allocate, resized};
#[cfg(feature = "gpu")]
use crate::memory::{collect_in_parallel, extend, push};
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
    /// Leaves out pairs that touch at the start and do not approach.
    pub(crate) approaching: bool,
}

#[cfg(feature = "gpu")]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SettledPairs {
    pub(crate) grazing: Grazing,
    /// A checked pair was wrong, so others may be.
    pub(crate) wrong: bool,
}

#[cfg(feature = "gpu")]
const PLACES: &str = "the pairs that the GPU has left open";

#[cfg(feature = "gpu")]
type ImageKey = (u64, [i32; 3]);

#[cfg(feature = "gpu")]
fn image_key(k: usize, pair: &Collision, images: &[[i32; 3]]) -> ImageKey {
    let image = images.get(k).copied().unwrap_or_default();
    (pair.report().key(), image)
}

/// What [`settle`] must know about a list, or a part of it. Places are those in the whole list.
#[cfg(feature = "gpu")]
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// Of pairs that are not in order.
    unordered: bool,
    /// The places of the pairs that a GPU has left open.
    open: Vec<usize>,
    /// The places of pairs that are equal to the one before.
    repeats: Vec<usize>,
    /// The place of the first pair, and the keys of the first and the last one.
    ends: Option<(usize, [ImageKey; 2])>,
}

#[cfg(feature = "gpu")]
impl Listing {
    /// Of pairs in order, without repeats, none of which is open. `first` is the place of the
    /// first pair. `images` may be empty in open space.
    pub(crate) fn settled(first: usize, pairs: &[Collision], images: &[[i32; 3]]) -> Self {
        let key = |k: usize| Some(image_key(k, pairs.get(k)?, images));
        let ends = key(0).zip(key(pairs.len().wrapping_sub(1)));
        Self {
            ends: ends.map(|(begin, end)| (first, [begin, end])),
            ..Self::default()
        }
    }

    /// As [`settled`](Self::settled), of any pairs.
    pub(crate) fn of(
        first: usize,
        pairs: &[Collision],
        images: &[[i32; 3]],
    ) -> Result<Self, Error> {
        let mut listing = Self::settled(first, pairs, images);
        let open = |pair: &Collision| pair.b & GRAZING != 0;
        // Most lists are so, and this takes less time.
        let in_order = |two: &[Collision]| two[0].report().key() < two[1].report().key();
        if !pairs.iter().any(open) && pairs.windows(2).all(in_order) {
            return Ok(listing);
        }
        let mut before = None;
        for (k, pair) in pairs.iter().enumerate() {
            let own = image_key(k, pair, images);
            if before == Some(own) {
                push(&mut listing.repeats, first + k, PLACES)?;
                continue;
            }
            listing.unordered |= before > Some(own);
            if open(pair) {
                push(&mut listing.open, first + k, PLACES)?;
            }
            before = Some(own);
        }
        Ok(listing)
    }

    /// There is nothing to decide, to sort or to remove.
    pub(crate) fn is_settled(&self) -> bool {
        !self.unordered && self.open.is_empty() && self.repeats.is_empty()
    }

    fn of_all(pairs: &[Collision], images: &[[i32; 3]]) -> Result<Self, Error> {
        let parts = pairs.par_chunks(TASK).enumerate();
        let listed = parts.map(|(task, part)| {
            let first = task * TASK;
            let images = images.get(first..first + part.len()).unwrap_or_default();
            Self::of(first, part, images)
        });
        listed.try_reduce(Self::default, Self::then)
    }

    /// Of two parts that follow each other.
    pub(crate) fn then(mut self, mut other: Self) -> Result<Self, Error> {
        let Some((at, [next, end])) = other.ends else {
            return Ok(self);
        };
        let Some((first, [begin, last])) = self.ends else {
            return Ok(other);
        };
        self.unordered |= other.unordered || last > next;
        if last == next {
            other.open.retain(|&place| place != at);
            push(&mut self.repeats, at, PLACES)?;
        }
        extend(&mut self.open, other.open, PLACES)?;
        extend(&mut self.repeats, other.repeats, PLACES)?;
        self.ends = Some((first, [begin, end]));
        Ok(self)
    }
}

/// Decides the pairs that a GPU has left open, which have the flag [`GRAZING`] in `b`, and
/// sorts the list, without repeats. `images` may be empty in open space.
#[cfg(feature = "gpu")]
pub(crate) fn settle(
    spheres: impl Fn(u32, u32) -> Option<[Sphere; 2]> + Sync,
    step: &Settling<'_>,
    pairs: &mut Vec<Collision>,
    images: &mut Vec<[i32; 3]>,
    listing: Option<Listing>,
) -> Result<SettledPairs, Error> {
    let mut listing = match listing {
        Some(listing) => listing,
        None => Listing::of_all(pairs, images)?,
    };
    if listing.unordered {
        sort_with_images(pairs, images)?;
        listing = Listing::of_all(pairs, images)?;
    }
    let mut settled = SettledPairs::default();
    if listing.is_settled() && !step.checked {
        return Ok(settled);
    }
    let Listing { open, repeats, .. } = listing;
    let again = |pair: &Collision, k: usize| {
        let (a, b) = (pair.a, pair.b & !GRAZING);
        let [one, other] = spheres(a, b)?;
        let (mut found, arithmetic) = match images.get(k) {
            None => impact(&one, &other, (), step.dt),
            Some(&image) => {
                let shift = Translation::new(step.domain, image);
                impact(&one, &other, shift, step.dt)
            }
        };
        if step.approaching {
            let image = images.get(k).copied().unwrap_or_default();
            let spheres = [numbers(&one), numbers(&other)];
            let part = || parts(&spheres, &step.domain.products(image));
            found = found.filter(|hit| hit.toi != 0.0 || !part());
        }
        let pair = found.map(|Hit { toi, depth }| Collision {
            a,
            b,
            toi: scaled(toi, step.times),
            depth,
        });
        Some((pair, arithmetic))
    };
    if step.checked {
        let checked = pairs.par_iter().enumerate().step_by(CHECKED);
        let is_wrong = |&(k, pair): &(usize, &Collision)| {
            let found = again(pair, k).and_then(|(found, _)| found);
            let wrong = pair.b & GRAZING == 0 && found != Some(*pair);
            if wrong {
                log_wrong_pair(pair, found);
            }
            wrong
        };
        settled.wrong = checked.filter(is_wrong).count() > 0;
    }
    let decided = open.par_iter().map(|&k| {
        let pair = pairs.get(k).and_then(|pair| again(pair, k));
        pair.ok_or_else(|| Error::device("a pair that was read back lacks its spheres"))
    });
    let decided = collect_in_parallel(decided, PLACES)?;
    let mut removed = repeats;
    for (k, decided) in open.into_iter().zip(decided) {
        let (found, arithmetic) = decided?;
        settled.grazing.count(arithmetic);
        match found {
            Some(pair) => pairs[k] = pair,
            None => push(&mut removed, k, PLACES)?,
        }
    }
    removed.sort_unstable();
    remove(pairs, &removed);
    if !images.is_empty() {
        remove(images, &removed);
    }
    Ok(settled)
}

#[cfg(feature = "gpu")]
fn sort_with_images(pairs: &mut Vec<Collision>, images: &mut Vec<[i32; 3]>) -> Result<(), Error> {
    if images.is_empty() {
        sort(pairs, |pair: &Collision| pair.report().key());
        return Ok(());
    }
    let mut listed: Vec<ImageCollision> = allocate(pairs.len(), LIST)?;
    let all = pairs.iter().zip(images.iter());
    listed.extend(all.map(|(&pair, &image)| ImageCollision::new(pair, image)));
    sort(&mut listed, |listed: &ImageCollision| listed.report().key());
    pairs.clear();
    pairs.extend(listed.iter().map(|listed| *listed.pair()));
    images.clear();
    images.extend(listed.iter().map(|listed| listed.image));
    Ok(())
}

/// Moves only what is behind the first of the `places`, which are in order.
#[cfg(feature = "gpu")]
fn remove<T: Copy>(list: &mut Vec<T>, places: &[usize]) {
    let mut to = list.len();
    for (number, &place) in places.iter().enumerate() {
        if number == 0 {
            to = place;
        }
        let end = places.get(number + 1).copied().unwrap_or(list.len());
        list.copy_within(place + 1..end, to);
        to += end - (place + 1);
    }
    list.truncate(to);
}

/// docs/exact.md proves this impossible, unless the driver has errors.
#[cfg(feature = "gpu")]
#[cold]
fn log_wrong_pair(listed: &Collision, found: Option<Collision>) {
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

#[cfg(all(test, feature = "gpu"))]
mod tests {
    use super::*;

    fn keys(pairs: &[Collision], images: &[[i32; 3]]) -> Vec<(u32, u32, [i32; 3])> {
        let image = |k: usize| images.get(k).copied().unwrap_or_default();
        let keys = pairs.iter().enumerate();
        keys.map(|(k, pair)| (pair.a, pair.b, image(k))).collect()
    }

    /// Returns pairs of which every second touches. Every third is open.
    fn list(rng: &mut fastrand::Rng, ordered: bool) -> (Vec<Collision>, Vec<[i32; 3]>) {
        let mut all: Vec<_> = (0..rng.usize(..40))
            .map(|_| (rng.u32(..3), rng.u32(4..8), [0, 0, rng.i32(-1..2)]))
            .collect();
        if ordered {
            all.sort_unstable();
        }
        let pair = |&(a, b, _): &(u32, u32, [i32; 3])| Collision {
            a,
            b: b | if (a + b) % 3 == 0 { GRAZING } else { 0 },
            toi: 0.0,
            depth: 0.0,
        };
        let images = all.iter().map(|&(_, _, image)| image).collect();
        (all.iter().map(pair).collect(), images)
    }

    #[test]
    fn parts_of_a_list_are_settled_as_the_whole() -> Result<(), Error> {
        let mut rng = fastrand::Rng::with_seed(1);
        let domain = Domain::rectangular([0.0; 3], [1.0; 3]);
        // Image 1 of a pair touches if a + b is even.
        let spheres = |a: u32, b: u32| {
            let other = [0.0, 0.0, if (a + b).is_multiple_of(2) { -1.0 } else { 5.0 }];
            Some([Sphere::new([0.0; 3], 0.0), Sphere::new(other, 0.0)])
        };
        let step = Settling {
            domain: &domain,
            dt: 0.0,
            times: 1.0,
            checked: false,
            approaching: false,
        };
        for round in 0..2000 {
            let ordered = round % 2 == 0;
            let (mut pairs, mut images) = list(&mut rng, ordered);
            let mut expected = keys(&pairs, &images);
            expected.retain(|&(a, b, image)| {
                b & GRAZING == 0 || ((a + b) % 2 == 0 && image == [0, 0, 1])
            });
            for key in &mut expected {
                key.1 &= !GRAZING;
            }
            expected.sort_unstable();
            expected.dedup();
            let mut listing = Listing::default();
            let mut at = 0;
            while at < pairs.len() {
                let end = pairs.len().min(at + rng.usize(1..6));
                listing = listing.then(Listing::of(at, &pairs[at..end], &images[at..end])?)?;
                at = end;
            }
            settle(spheres, &step, &mut pairs, &mut images, Some(listing))?;
            assert_eq!(keys(&pairs, &images), expected);
        }
        Ok(())
    }
}
