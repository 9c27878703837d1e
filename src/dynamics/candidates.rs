//! Candidates: the pairs of spheres that can touch in a substep while every sphere stays within its pad.
//!
//! The pad of a sphere is a bound on the distance that it moves from its place at the start of the substep. A
//! detector finds the pairs of spheres at rest, each enlarged by its pad, that overlap. The centres and radii
//! that the detector gets are float32, so each radius also covers the rounding of its centre.

use rayon::prelude::*;

use super::rows::{Rows, reserve};
use super::substep::Start;
use super::walls::Searching;
use super::{HardSphere, Partner};
use crate::{Collision, Collisions, Detector, Error, Sphere, Step};

/// Initial pad, relative to the distance that the sphere moves if it meets nothing.
const PAD: f64 = 1.5;

/// Slowest speed that a pad is made for, relative to the mean speed of all spheres. A slow sphere is likely to
/// be hit by a faster one.
const SLOWEST: f64 = 0.8;

/// New pad of a sphere that has left its pad, relative to the distance that it has moved.
const WIDER: f64 = 1.5;

/// A pair that can touch. The derived order is the order of simultaneous impacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    /// Index of the sphere, the smaller one of two.
    pub(crate) sphere: u32,
    pub(crate) partner: Partner,
    /// Image of the second sphere, or the image of the sphere that may touch a wall.
    pub(crate) image: [i32; 3],
}

#[derive(Debug, Default)]
pub(crate) struct Candidates {
    pads: Vec<f64>,
    /// The spheres with their pads, at rest, for the detector.
    padded: Vec<Sphere>,
    list: Vec<Candidate>,
    pairs: usize,
    /// The candidates of each sphere that the first search has found.
    rows: Rows,
    /// Sphere and candidate, sorted, for the candidates of later searches.
    later: Vec<[u32; 2]>,
    /// One bit for each sphere: whether it has candidates of later searches.
    with_later: Vec<u64>,
    found: Collisions,
    /// The indices of all spheres that have not been removed.
    everyone: Vec<u32>,
}

impl Candidates {
    /// Searches the candidates of a substep.
    pub(crate) fn search(
        &mut self,
        detector: &mut Detector,
        start: &Start<'_>,
    ) -> Result<(), Error> {
        let &Start {
            spheres, lattice, ..
        } = start;
        let groups = &start.options.groups;
        let (pads, padded) = (&mut self.pads, &mut self.padded);
        make_pads(pads, start);
        padded.clear();
        reserve(padded, spheres.len())?;
        let group = |index: usize| groups.get(index).copied().unwrap_or_default();
        let all = spheres.par_iter().zip(&*pads).enumerate();
        padded.par_extend(all.map(|(index, (sphere, &pad))| {
            if start.removed[index] {
                // A small sphere has few pairs, which are discarded.
                return Sphere::new(sphere.center.as_vec3(), 0.0);
            }
            enlarged(sphere, pad, group(index))
        }));
        let step = Step::new(&self.padded, 0.0).in_domain(lattice.domain());
        detector.detect_into(&step, &mut self.found)?;
        let Collisions { pairs, images, .. } = &self.found;
        let list = &mut self.list;
        list.clear();
        reserve(list, pairs.len())?;
        let candidates = pairs.par_iter().enumerate();
        let candidates = candidates.map(|(index, pair)| candidate(pair, images.get(index)));
        list.par_extend(candidates.filter(|candidate| can_meet(candidate, start)));
        self.pairs = self.list.len();
        if start.walls.len() > 0 {
            self.everyone.clear();
            let present = |&index: &u32| !start.removed[index as usize];
            self.everyone.extend((0..id(spheres.len())).filter(present));
            let searching = self.searching(start, &self.everyone);
            let found = start.walls.find(detector, lattice, &searching)?;
            self.list.extend(found);
        }
        self.later.clear();
        self.with_later.clear();
        let Self { list, rows, .. } = self;
        rows.fill(spheres.len(), id(list.len()), |index| {
            list[index as usize].spheres()
        })
    }

    fn searching<'a>(&'a self, start: &Start<'a>, who: &'a [u32]) -> Searching<'a> {
        Searching {
            who,
            spheres: start.spheres,
            pads: &self.pads,
            padded: &self.padded,
            time: start.time,
            duration: start.duration,
        }
    }

    /// Gives wider pads to spheres that have left theirs, and searches anew for these spheres. `leavers` has
    /// the index of each and the distance that it has moved. Returns the indices of the new candidates.
    pub(crate) fn widen(
        &mut self,
        detector: &mut Detector,
        start: &Start<'_>,
        leavers: &[(u32, f64)],
    ) -> Result<std::ops::Range<u32>, Error> {
        let &Start {
            spheres, lattice, ..
        } = start;
        let before = id(self.list.len());
        if leavers.is_empty() {
            return Ok(before..before);
        }
        for &(index, moved) in leavers {
            let index = index as usize;
            self.pads[index] = WIDER * moved;
            let groups = self.padded[index].groups;
            self.padded[index] = enlarged(&spheres[index], WIDER * moved, groups);
        }
        let left: Vec<_> = leavers
            .iter()
            .map(|&(index, _)| self.padded[index as usize])
            .collect();
        let step = Step::between(&left, &self.padded, 0.0).in_domain(lattice.domain());
        detector.detect_into(&step, &mut self.found)?;
        let Collisions { pairs, images, .. } = &self.found;
        let mut new: Vec<_> = pairs
            .iter()
            .enumerate()
            .map(|(index, pair)| {
                let first = leavers[pair.a as usize].0;
                candidate(&Collision { a: first, ..*pair }, images.get(index))
            })
            .filter(|candidate| can_meet(candidate, start) && !self.has(candidate))
            .collect();
        if start.walls.len() > 0 {
            let who: Vec<_> = leavers.iter().map(|&(index, _)| index).collect();
            let searching = self.searching(start, &who);
            let found = start.walls.find(detector, lattice, &searching)?;
            new.extend(found.into_iter().filter(|candidate| !self.has(candidate)));
        }
        new.sort_unstable();
        new.dedup();
        self.list.extend(new);
        let after = id(self.list.len());
        self.with_later.resize(spheres.len().div_ceil(64), 0);
        for index in before..after {
            let of = self.list[index as usize].spheres();
            for sphere in of {
                self.later.push([sphere, index]);
                self.with_later[sphere as usize / 64] |= 1 << (sphere % 64);
            }
        }
        self.later.sort_unstable();
        Ok(before..after)
    }

    fn has(&self, candidate: &Candidate) -> bool {
        self.of(candidate.sphere)
            .any(|index| self.list[index as usize] == *candidate)
    }

    pub(crate) fn list(&self) -> &[Candidate] {
        &self.list
    }

    fn has_later(&self, sphere: u32) -> bool {
        let word = self.with_later.get(sphere as usize / 64);
        word.is_some_and(|word| word >> (sphere % 64) & 1 != 0)
    }

    /// Returns the number of pairs of spheres that the first search has found.
    pub(crate) fn pairs(&self) -> usize {
        self.pairs
    }

    pub(crate) fn get(&self, index: u32) -> &Candidate {
        &self.list[index as usize]
    }

    /// Returns the indices of the candidates of a sphere.
    pub(crate) fn of(&self, sphere: u32) -> impl Iterator<Item = u32> {
        let later = if self.has_later(sphere) {
            let first = self.later.partition_point(|entry| entry[0] < sphere);
            &self.later[first..]
        } else {
            &[]
        };
        let later = later.iter().take_while(move |entry| entry[0] == sphere);
        let rows = self.rows.row(sphere as usize).iter().copied();
        rows.chain(later.map(|entry| entry[1]))
    }

    pub(crate) fn pad(&self, sphere: u32) -> f64 {
        self.pads[sphere as usize]
    }
}

impl Candidate {
    /// Returns the one or two spheres of the candidate.
    fn spheres(&self) -> impl Iterator<Item = u32> + use<> {
        [Some(self.sphere), self.other()].into_iter().flatten()
    }

    /// Returns the second sphere, if the partner is one.
    pub(crate) fn other(&self) -> Option<u32> {
        match self.partner {
            Partner::Sphere(other) => Some(other),
            Partner::Wall(_) => None,
        }
    }
}

/// Converts the index of a candidate. The detector allows at most 2²⁸ pairs, unless its options say otherwise.
#[allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2²⁹ candidates"
)]
fn id(index: usize) -> u32 {
    index as u32
}

fn make_pads(pads: &mut Vec<f64>, start: &Start<'_>) {
    let spheres = start.spheres;
    // The largest mean speed that gravity can add to a path from its first point.
    let falling = 0.5 * start.options.gravity.length() * start.duration;
    let speeds = spheres.par_chunks(4096).map(|chunk| {
        let speeds = chunk.iter().map(|sphere| sphere.velocity.length());
        speeds.sum::<f64>()
    });
    // The sums of chunks are added in order, so the mean does not depend on the number of threads.
    let sum: f64 = speeds.collect::<Vec<_>>().into_iter().sum();
    let slowest = SLOWEST * sum / start.present().max(1) as f64;
    let pad = |sphere: &HardSphere| {
        let speed = sphere.velocity.length();
        let speed = if sphere.is_fixed() {
            speed
        } else {
            speed.max(slowest) + falling
        };
        PAD * start.duration * speed
    };
    spheres.par_iter().map(pad).collect_into_vec(pads);
}

/// Returns a float32 sphere at rest that contains the sphere wherever it is within its pad.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the radius covers the rounding to float32"
)]
fn enlarged(sphere: &HardSphere, pad: f64, groups: u32) -> Sphere {
    let center = sphere.center.as_vec3();
    let rounding = (center.as_dvec3() - sphere.center).length();
    let radius = (sphere.radius + pad + rounding) * (1.0 + 1e-12);
    Sphere {
        groups,
        ..Sphere::new(center, (radius as f32).next_up())
    }
}

fn candidate(pair: &Collision, image: Option<&[i32; 3]>) -> Candidate {
    let image = image.copied().unwrap_or_default();
    let (sphere, other, image) = if pair.a <= pair.b {
        (pair.a, pair.b, image)
    } else {
        (pair.b, pair.a, image.map(|n| -n))
    };
    Candidate {
        sphere,
        partner: Partner::Sphere(other),
        image,
    }
}

/// Returns false for a sphere and its own image, which do not move against each other, for two spheres of one
/// body, for two spheres of infinite mass, which pass through each other, and for removed spheres.
fn can_meet(candidate: &Candidate, start: &Start<'_>) -> bool {
    let bodies = &start.options.bodies;
    let fixed = |index: u32| start.spheres[index as usize].is_fixed();
    let body = |index: u32| bodies.get(index as usize).copied().flatten();
    let removed = |index: u32| start.removed[index as usize];
    let sphere = candidate.sphere;
    candidate.other().is_none_or(|other| {
        let together = body(sphere).is_some() && body(sphere) == body(other);
        let gone = removed(sphere) || removed(other);
        let both_fixed = fixed(sphere) && fixed(other);
        !(other == sphere || together || gone || both_fixed)
    })
}
