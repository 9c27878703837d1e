//! Candidates: the pairs of spheres that can touch while every sphere stays within its pad.
//!
//! The pad of a sphere is a bound on the distance that it moves from its *origin*, its place at the time of the
//! search. A detector finds the pairs of spheres at rest, each enlarged by its pad, that overlap. The centres and
//! radii that the detector gets are float32, so each radius also covers the rounding of its centre.
//!
//! The list serves several substeps. A sphere that leaves its pad gets a wider one, and is sought anew in a tree of
//! boxes. In a periodic domain, spheres are wrapped after each substep. The origins stay as they are, and the images
//! of the candidates change with the wrapping.

use glam::DVec3;
use rayon::prelude::*;

use super::boxes::Boxes;
use super::lattice::Lattice;
use super::rows::{Rows, push, reserve};
use super::substep::Start;
use super::walls::Searching;
use super::{HardSphere, Partner};
use crate::validate::invalid_field;
use crate::{Collision, Collisions, Detector, Error, Sphere, Step};

/// Initial pad, relative to the distance that the sphere moves until the next search if it meets nothing.
const PAD: f64 = 1.5;

/// Slowest speed that a pad is made for, relative to the mean speed of all spheres. A slow sphere is likely to
/// be hit by a faster one.
const SLOWEST: f64 = 0.8;

/// New pad of a sphere that has left its pad, relative to the distance that it has moved.
const WIDER: f64 = 1.5;

/// Largest number of candidates, so that a bit of an index is free.
const MOST: usize = 1 << 31;

/// A pair that can touch. The derived order is the order of simultaneous impacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    /// Index of the sphere, the smaller one of two.
    pub(crate) sphere: u32,
    pub(crate) partner: Partner,
    /// Image of the second sphere, or the image of the sphere that may touch a wall.
    pub(crate) image: [i32; 3],
}

/// A candidate in the row of one of its spheres.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Neighbor {
    /// The other sphere, or the sphere itself at a wall.
    pub(crate) other: u32,
    /// Index of the candidate, with the bit `SPECIAL`.
    word: u32,
}

impl Neighbor {
    /// Set unless the candidate is certainly two spheres without an image.
    const SPECIAL: u32 = 1 << 31;

    pub(crate) fn index(self) -> u32 {
        self.word & !Self::SPECIAL
    }

    /// Returns false if the candidate is certainly two spheres without an image.
    pub(crate) fn is_special(self) -> bool {
        self.word & Self::SPECIAL != 0
    }
}

#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// Whether the list has all candidates of the present spheres.
    valid: bool,
    /// Time of the simulation at the search.
    time: f64,
    /// Time after the search up to which the list is valid.
    horizon: f64,
    origins: Vec<DVec3>,
    /// The cells by which each sphere has been wrapped since the search. Empty in open space.
    crossed: Vec<[i32; 3]>,
    pads: Vec<f64>,
    /// The spheres at their origins with their pads, at rest.
    padded: Vec<Sphere>,
    list: Vec<Candidate>,
    /// Number of candidates that the search has found, without those that were found later.
    first: usize,
    /// Number of candidates of the search that are pairs of spheres.
    pairs: usize,
    /// The candidates of each sphere that the search has found.
    rows: Rows<Neighbor>,
    /// Spheres with the candidates that were found later, sorted.
    later: Vec<(u32, Neighbor)>,
    /// One bit for each sphere: whether it has candidates that were found later.
    with_later: Vec<u64>,
    found: Collisions,
    /// The indices of all spheres that have not been removed.
    everyone: Vec<u32>,
    /// A tree of `padded`, or an old tree.
    boxes: Boxes,
    has_boxes: bool,
}

impl Candidates {
    /// Marks the list as outdated.
    pub(crate) fn forget(&mut self) {
        self.valid = false;
    }

    /// Returns whether the list has the candidates of a substep.
    pub(crate) fn cover(&self, start: &Start<'_>) -> bool {
        let late = self.later.len() > self.list.len() / 2;
        let end = start.time - self.time + start.duration;
        self.valid && !late && end <= self.horizon
    }

    /// Searches the candidates of the substeps up to a time after the start.
    pub(crate) fn search(
        &mut self,
        detector: &mut Detector,
        start: &Start<'_>,
        horizon: f64,
    ) -> Result<(), Error> {
        let &Start {
            spheres, lattice, ..
        } = start;
        let count = spheres.len();
        self.valid = false;
        self.has_boxes = false;
        (self.time, self.horizon) = (start.time, horizon);
        let (pads, padded, origins) = (&mut self.pads, &mut self.padded, &mut self.origins);
        make_pads(pads, start, horizon)?;
        origins.clear();
        reserve(origins, count)?;
        origins.par_extend(spheres.par_iter().map(|sphere| sphere.center));
        self.crossed.clear();
        if !lattice.is_open() {
            reserve(&mut self.crossed, count)?;
            self.crossed.resize(count, [0; 3]);
        }
        let groups = &start.options.groups;
        let group = |index: usize| groups.get(index).copied().unwrap_or_default();
        padded.clear();
        reserve(padded, count)?;
        let all = spheres.par_iter().zip(&*pads).enumerate();
        padded.par_extend(all.map(|(index, (sphere, &pad))| {
            if start.removed[index] {
                // A small sphere has few pairs, which are discarded.
                return Sphere::new(sphere.center.as_vec3(), 0.0);
            }
            enlarged(sphere.center, sphere.radius + pad, lattice, group(index))
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
            reserve(&mut self.everyone, count)?;
            let present = |&index: &u32| !start.removed[index as usize];
            self.everyone.extend((0..id(count)).filter(present));
            let searching = self.searching(start, &self.everyone);
            let found = start.walls.find(detector, lattice, &searching)?;
            reserve(&mut self.list, found.len())?;
            self.list.extend(found);
        }
        self.check_length()?;
        self.first = self.list.len();
        self.later.clear();
        self.with_later.clear();
        reserve(&mut self.with_later, count.div_ceil(64))?;
        self.with_later.resize(count.div_ceil(64), 0);
        let Self { list, rows, .. } = self;
        rows.fill(count, id(list.len()), |index| {
            list[index as usize].neighbors(index)
        })?;
        self.valid = true;
        Ok(())
    }

    fn check_length(&self) -> Result<(), Error> {
        if self.list.len() < MOST {
            return Ok(());
        }
        Err(Error::TooManyPairs {
            needed: self.list.len() as u64,
            limit: MOST as u64,
        })
    }

    fn searching<'a>(&'a self, start: &Start<'a>, who: &'a [u32]) -> Searching<'a> {
        Searching {
            who,
            spheres: start.spheres,
            origins: &self.origins,
            pads: &self.pads,
            padded: &self.padded,
            time: self.time,
            duration: self.horizon,
        }
    }

    /// Gives wider pads to spheres that have left theirs, and searches anew for these spheres. `leavers` has
    /// the index of each and the distance that it has moved from its origin. Returns the indices of the new
    /// candidates.
    pub(crate) fn widen(
        &mut self,
        detector: &mut Detector,
        start: &Start<'_>,
        leavers: &[(u32, f64)],
    ) -> Result<std::ops::Range<u32>, Error> {
        let before = id(self.list.len());
        if leavers.is_empty() {
            return Ok(before..before);
        }
        if !self.has_boxes {
            self.boxes.fill(&self.padded)?;
            self.has_boxes = true;
        }
        for &(index, moved) in leavers {
            let place = index as usize;
            let pad = WIDER * moved;
            let (center, radius) = (self.origins[place], start.spheres[place].radius);
            let groups = self.padded[place].groups;
            let wider = enlarged(center, radius + pad, start.lattice, groups);
            if let Some((field, value)) = invalid_field(&wider, 0.0) {
                return Err(Error::InvalidSphere {
                    index: place,
                    set: None,
                    field,
                    value,
                });
            }
            (self.pads[place], self.padded[place]) = (pad, wider);
            self.boxes.grow(index, &wider);
        }
        let found = leavers
            .par_iter()
            .map(|&(index, _)| self.near(index, start));
        let found: Result<Vec<_>, Error> = found.collect();
        let mut new = found?.concat();
        if start.walls.len() > 0 {
            let who: Vec<_> = leavers.iter().map(|&(index, _)| index).collect();
            let searching = self.searching(start, &who);
            for mut found in start.walls.find(detector, start.lattice, &searching)? {
                found.image = sum(found.image, self.crossed(found.sphere), 1);
                if !self.has(&found) {
                    push(&mut new, found)?;
                }
            }
        }
        new.sort_unstable();
        new.dedup();
        reserve(&mut self.list, new.len())?;
        self.list.extend(new);
        self.check_length()?;
        let after = id(self.list.len());
        for index in before..after {
            for (sphere, neighbor) in self.list[index as usize].neighbors(index) {
                let word = neighbor.word | Neighbor::SPECIAL;
                push(&mut self.later, (sphere, Neighbor { word, ..neighbor }))?;
                self.with_later[sphere as usize / 64] |= 1 << (sphere % 64);
            }
        }
        // A stable sort is fast if a part of the list is sorted.
        self.later.sort();
        Ok(before..after)
    }

    /// Returns the candidates of a sphere with other spheres that are not on the list.
    fn near(&self, sphere: u32, start: &Start<'_>) -> Result<Vec<Candidate>, Error> {
        let mut new = Vec::new();
        let own = &self.padded[sphere as usize];
        let center = DVec3::from(own.center.map(f64::from));
        let reach = f64::from(own.radius) + f64::from(self.boxes.most_radius());
        let images = start.lattice.images_within(center, reach);
        let images = images.ok_or(Error::ImageOutOfRange {
            index: sphere as usize,
            set: None,
            limit: Lattice::MOST_CELLS,
        })?;
        let mut result = Ok(());
        images.each(|image| {
            let center = center - start.lattice.shift(image);
            self.boxes.each_near(
                &enlarged(center, own.radius.into(), start.lattice, 0),
                &mut |other| {
                    let padded = &self.padded[other as usize];
                    let away = DVec3::from(padded.center.map(f64::from)) - center;
                    let reach = (f64::from(own.radius) + f64::from(padded.radius)) * (1.0 + 1e-12);
                    let overlap = away.length_squared() <= reach * reach;
                    if !overlap || own.ignores(padded) || other == sphere {
                        return;
                    }
                    let image = sum(image, self.crossed(other), 1);
                    let image = sum(image, self.crossed(sphere), -1);
                    let pair = Collision {
                        a: sphere,
                        b: other,
                        ..Collision::default()
                    };
                    let found = candidate(&pair, Some(&image));
                    if can_meet(&found, start) && !self.has(&found) && result.is_ok() {
                        result = push(&mut new, found);
                    }
                },
            );
        });
        result.map(|()| new)
    }

    /// Changes the images of the candidates of spheres that have been wrapped by these cells.
    pub(crate) fn cross(&mut self, crossed: &[(u32, [i32; 3])]) {
        if !self.valid {
            return;
        }
        for &(sphere, by) in crossed {
            let cells = &mut self.crossed[sphere as usize];
            *cells = sum(*cells, by, 1);
            for place in 0..self.count_of(sphere) {
                let Some(neighbor) = self.of(sphere).nth(place) else {
                    continue;
                };
                let candidate = &mut self.list[neighbor.index() as usize];
                let second = candidate.sphere != sphere || candidate.other().is_none();
                candidate.image = sum(candidate.image, by, if second { 1 } else { -1 });
                for row in [sphere, neighbor.other] {
                    for entry in self.rows.row_mut(row as usize) {
                        if entry.index() == neighbor.index() {
                            entry.word |= Neighbor::SPECIAL;
                        }
                    }
                }
            }
        }
    }

    fn count_of(&self, sphere: u32) -> usize {
        self.of(sphere).count()
    }

    fn crossed(&self, sphere: u32) -> [i32; 3] {
        self.crossed
            .get(sphere as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Returns the origin of a sphere, as seen from its present cell.
    pub(crate) fn origin(&self, sphere: u32, lattice: &Lattice) -> DVec3 {
        let origin = self.origins[sphere as usize];
        match self.crossed(sphere) {
            [0, 0, 0] => origin,
            crossed => origin - lattice.shift(crossed),
        }
    }

    fn has(&self, candidate: &Candidate) -> bool {
        self.of(candidate.sphere)
            .any(|neighbor| self.list[neighbor.index() as usize] == *candidate)
    }

    pub(crate) fn list(&self) -> &[Candidate] {
        &self.list
    }

    /// Returns the candidates that were found after the search.
    pub(crate) fn later(&self) -> &[Candidate] {
        &self.list[self.first..]
    }

    fn has_later(&self, sphere: u32) -> bool {
        let word = self.with_later.get(sphere as usize / 64);
        word.is_some_and(|word| word >> (sphere % 64) & 1 != 0)
    }

    /// Returns the number of pairs of spheres that the search has found.
    pub(crate) fn pairs(&self) -> usize {
        self.pairs
    }

    pub(crate) fn get(&self, index: u32) -> &Candidate {
        &self.list[index as usize]
    }

    /// Returns the candidates of a sphere that the search has found: those with smaller spheres, with larger
    /// spheres, and with walls.
    pub(crate) fn row(&self, sphere: u32) -> &[Neighbor] {
        self.rows.row(sphere as usize)
    }

    /// Returns the candidates of a sphere.
    pub(crate) fn of(&self, sphere: u32) -> impl Iterator<Item = Neighbor> {
        let later = if self.has_later(sphere) {
            let first = self.later.partition_point(|entry| entry.0 < sphere);
            &self.later[first..]
        } else {
            &[]
        };
        let later = later.iter().take_while(move |entry| entry.0 == sphere);
        let row = self.row(sphere).iter().copied();
        row.chain(later.map(|entry| entry.1))
    }

    pub(crate) fn pad(&self, sphere: u32) -> f64 {
        self.pads[sphere as usize]
    }
}

impl Candidate {
    /// Returns the entry of the candidate in the row of each of its spheres, with the index of the sphere.
    fn neighbors(&self, index: u32) -> impl Iterator<Item = (u32, Neighbor)> + use<> {
        let sphere = self.sphere;
        let special = self.other().is_none() || self.image != [0; 3];
        let word = index | if special { Neighbor::SPECIAL } else { 0 };
        let entry = |other| Neighbor { other, word };
        let both = match self.other() {
            None => [Some((sphere, entry(sphere))), None],
            Some(other) => [Some((sphere, entry(other))), Some((other, entry(sphere)))],
        };
        both.into_iter().flatten()
    }

    /// Returns both spheres, or the sphere at a wall twice.
    pub(crate) fn ends(&self) -> [u32; 2] {
        [self.sphere, self.other().unwrap_or(self.sphere)]
    }

    /// Returns the second sphere, if the partner is one.
    pub(crate) fn other(&self) -> Option<u32> {
        match self.partner {
            Partner::Sphere(other) => Some(other),
            Partner::Wall(_) => None,
        }
    }
}

/// Converts the index of a candidate or of a sphere.
#[allow(
    clippy::cast_possible_truncation,
    reason = "there are less than 2³¹ candidates"
)]
fn id(index: usize) -> u32 {
    index as u32
}

/// Returns the sum of an image and another one with a factor.
fn sum(image: [i32; 3], other: [i32; 3], factor: i32) -> [i32; 3] {
    let mut image = image;
    for (n, other) in image.iter_mut().zip(other) {
        *n = n.saturating_add(other.saturating_mul(factor));
    }
    image
}

fn make_pads(pads: &mut Vec<f64>, start: &Start<'_>, horizon: f64) -> Result<(), Error> {
    let spheres = start.spheres;
    // The largest mean speed that gravity can add to a path from its first point.
    let falling = 0.5 * start.options.gravity.length() * horizon;
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
        PAD * horizon * speed
    };
    pads.clear();
    reserve(pads, spheres.len())?;
    pads.par_extend(spheres.par_iter().map(pad));
    Ok(())
}

/// Returns a float32 sphere at rest that contains a sphere with its pad.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the radius covers the rounding to float32"
)]
fn enlarged(center: DVec3, radius: f64, lattice: &Lattice, groups: u32) -> Sphere {
    let rounded = center.as_vec3();
    let rounding = (rounded.as_dvec3() - center).length();
    // Wrapping rounds the places of spheres in units of the cell.
    let wrapping = 8.0 * f64::EPSILON * lattice.size();
    let radius = (radius + rounding + wrapping) * (1.0 + 1e-12);
    Sphere {
        groups,
        ..Sphere::new(rounded, (radius as f32).next_up())
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
