//! Tests in exact arithmetic the pairs of spheres that a search has reported, and lists the pairs
//! that touch.

use rayon::prelude::*;

use super::answer::{Arithmetic, Impact};
use super::impact::impact;
use super::listed::{ImageCollision, Listed, Report, ReportedImage};
use crate::memory::{LIST, resized};
use crate::reduce::sort::sort;
use crate::shared::sets::Sets;
use crate::step::CheckedStep;
use crate::{Collision, Domain, Error, Sphere};

/// Flag in [`ReportedPair::b`]: a GPU's float32 test could not decide the pair, or the pair may be
/// reported more than once.
pub(crate) const GRAZING: u32 = 1 << 31;

/// A pair of spheres, a < b, that has to be tested in exact arithmetic. The indices count all
/// spheres of the step, a second set after the first.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct ReportedPair {
    pub(crate) a: u32,
    pub(crate) b: u32,
}

/// Numbers of pairs that the first test (in float32 on a GPU, in float64 on the CPU) could not
/// decide.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Grazing {
    pub(crate) all: u64,
    /// Number of pairs that only exact integers could decide, because float64 was too imprecise.
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

const TASK: usize = 4096;

const MISS: Collision = Collision {
    a: u32::MAX,
    b: u32::MAX,
    toi: 0.0,
    depth: 0.0,
};

/// Decides exactly which of the reported pairs touch ([`impact`]), and fills `pairs` with these,
/// sorted and without repeats. A report names two spheres and, in a periodic domain, the image of
/// the second sphere. The caller's function `spheres` returns the two spheres that a report names,
/// or `None` if the pair is to be skipped.
pub(crate) fn decide_reported_with<R: Report>(
    spheres: impl Fn(u32, u32) -> Option<[Sphere; 2]> + Sync,
    sets: Sets,
    domain: &Domain,
    dt: f32,
    reported: &mut Vec<R>,
    pairs: &mut Vec<R::Listed>,
) -> Result<Grazing, Error> {
    let b_offset = u32::try_from(sets.b_offset()).unwrap_or(u32::MAX);
    // A pair may be reported twice, with the flag [`GRAZING`] (undecided) and without it, and
    // either report may be kept. This affects only the count of grazing pairs, because each kept
    // pair is tested in exact arithmetic.
    sort(reported, |report| {
        let ReportedPair { a, b } = report.pair();
        (u64::from(a) << 32 | u64::from(b & !GRAZING), report.order())
    });
    let grazing = resized(pairs, reported.len(), LIST)?
        .par_chunks_mut(TASK)
        .zip(reported.par_chunks(TASK))
        .map(|(pairs, reported)| {
            let mut grazing = Grazing::default();
            for (pair, report) in pairs.iter_mut().zip(reported) {
                *pair = R::Listed::new(MISS, report.image());
                let ReportedPair { a, b } = report.pair();
                let (certain, b) = (b & GRAZING == 0, b & !GRAZING);
                let Some([one, other]) = spheres(a, b) else {
                    continue;
                };
                let (impact, arithmetic) = impact(&one, &other, report.shift(domain), dt);
                if !certain {
                    grazing.count(arithmetic);
                }
                match impact {
                    Some(Impact { toi, depth }) => {
                        let collision = Collision {
                            a,
                            b: b.saturating_sub(b_offset),
                            toi,
                            depth,
                        };
                        *pair = R::Listed::new(collision, report.image());
                    }
                    None if certain => log_false_hit(a, b),
                    None => {}
                }
            }
            grazing
        })
        .reduce(Grazing::default, Grazing::plus);
    pairs.retain(|pair| pair.pair().a != MISS.a);
    Ok(grazing)
}

/// Logs that a GPU called a pair a certain hit although the spheres do not touch. docs/exact.md
/// proves this impossible. The list of collisions is correct in any case.
#[cold]
fn log_false_hit(a: u32, b: u32) {
    log::error!("the GPU reported ({a}, {b}) as a certain hit, but they do not touch");
}

pub(crate) fn decide_reported<R: Report>(
    step: &CheckedStep<'_>,
    reported: &mut Vec<R>,
    pairs: &mut Vec<R::Listed>,
) -> Result<Grazing, Error> {
    let spheres = spheres_of(step.spheres);
    decide_reported_with(spheres, step.sets, &step.domain, step.dt, reported, pairs)
}

fn spheres_of(spheres: &[Sphere]) -> impl Fn(u32, u32) -> Option<[Sphere; 2]> {
    let sphere = |index: u32| spheres.get(index as usize).copied();
    move |a, b| Some([sphere(a)?, sphere(b)?])
}

#[cfg_attr(
    not(feature = "gpu"),
    allow(dead_code, reason = "only the GPU backend makes these lists")
)]
pub(crate) enum Reported {
    Open(Vec<ReportedPair>),
    Periodic(Vec<ReportedImage>),
}

impl Reported {
    /// Returns `pairs` with the periodic images of their second spheres. If `images` is empty, the
    /// pairs are in open space.
    #[cfg(feature = "gpu")]
    pub(crate) fn new(pairs: Vec<ReportedPair>, images: &[[i32; 3]]) -> Result<Self, Error> {
        if images.is_empty() {
            return Ok(Self::Open(pairs));
        }
        let mut reported = crate::memory::allocate(pairs.len(), "the pairs found")?;
        let pairs = pairs.into_iter().zip(images);
        reported.extend(pairs.map(|(pair, &image)| ReportedImage::new(pair, image)));
        Ok(Self::Periodic(reported))
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Open(pairs) => pairs.len(),
            Self::Periodic(pairs) => pairs.len(),
        }
    }

    /// Tests all reported pairs in exact arithmetic, as [`decide_reported_with`] does. In a
    /// periodic domain, fills `images` with the image of the second sphere of each touching pair.
    /// In open space, clears `images`.
    pub(crate) fn decide(
        &mut self,
        spheres: impl Fn(u32, u32) -> Option<[Sphere; 2]> + Sync,
        (sets, domain, dt): (Sets, &Domain, f32),
        pairs: &mut Vec<Collision>,
        images: &mut Vec<[i32; 3]>,
    ) -> Result<Grazing, Error> {
        images.clear();
        match self {
            Self::Open(reported) => {
                decide_reported_with(spheres, sets, domain, dt, reported, pairs)
            }
            Self::Periodic(reported) => {
                let mut listed: Vec<ImageCollision> = Vec::new();
                let grazing =
                    decide_reported_with(spheres, sets, domain, dt, reported, &mut listed)?;
                resized(pairs, listed.len(), LIST)?;
                resized(images, listed.len(), LIST)?;
                for ((listed, pair), image) in listed.iter().zip(pairs).zip(images) {
                    (*pair, *image) = (*listed.pair(), listed.image);
                }
                Ok(grazing)
            }
        }
    }

    pub(crate) fn decide_step(
        &mut self,
        step: &CheckedStep<'_>,
        pairs: &mut Vec<Collision>,
        images: &mut Vec<[i32; 3]>,
    ) -> Result<Grazing, Error> {
        let request = (step.sets, &step.domain, step.dt);
        self.decide(spheres_of(step.spheres), request, pairs, images)
    }
}
