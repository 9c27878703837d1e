//! Candidates: the pairs of spheres that can touch while every sphere stays within its pad.
//!
//! The pad of a sphere is a bound on the distance that it moves from its *origin*, its place at the time of the
//! search. A tree of boxes finds the pairs of spheres at rest, each enlarged by its pad, that overlap. The centres
//! and radii in the tree are float32, so each radius also covers the rounding of its centre.
//!
//! The candidates serve several substeps. A sphere that leaves its pad gets a wider one, and is sought anew. In a
//! periodic domain, spheres are wrapped after each substep. The origins stay as they are, and the images of the
//! candidates change with the wrapping.

use std::sync::atomic::{AtomicUsize, Ordering};

use glam::DVec3;
use rayon::prelude::*;

use super::boxes::{Bits, Boxes, EIGHT, Leaf};
use super::lattice::Lattice;
use super::rows::{push, reserve};
use super::substep::Start;
use super::walls::Searching;
use super::{HardSphere, Partner};
use crate::validate::invalid_field;
use crate::{Detector, Error, Sphere};

/// Initial pad, relative to the distance that the sphere moves until the next search if it meets nothing.
const PAD: f64 = 1.5;

/// Slowest speed that a pad is made for, relative to the mean speed of all spheres. A slow sphere is likely to
/// be hit by a faster one.
const SLOWEST: f64 = 0.8;

/// New pad of a sphere that has left its pad, relative to the distance that it has moved.
const WIDER: f64 = 1.5;

/// Largest number of pairs of spheres.
const MAX_PAIRS: usize = 1 << 28;

/// Number of spheres whose candidates are found by one thread, and lie together in memory.
pub(crate) const SPHERES: usize = 1024;

/// A pair that can touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    /// The sphere, of two the one that the caller knows by the smaller index.
    pub(crate) sphere: u32,
    pub(crate) partner: Partner,
    /// Image of the second sphere, or the image of the sphere that may touch a wall.
    pub(crate) image: [i32; 3],
}

/// A candidate as one of its spheres sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near<'a> {
    /// The other sphere, or the sphere itself at a wall.
    pub(crate) other: u32,
    /// The candidate, unless it certainly is two spheres without an image.
    pub(crate) special: Option<&'a Candidate>,
}

impl Near<'_> {
    /// Returns the candidate. `sphere` is the sphere that sees it.
    pub(crate) fn candidate(&self, sphere: u32, ids: &[u32]) -> Candidate {
        match self.special {
            Some(candidate) => *candidate,
            None => pair([sphere, self.other], [0; 3], ids),
        }
    }
}

/// An entry in the row of a sphere.
#[derive(Clone, Copy, Debug)]
struct Entry {
    other: u32,
    /// 0 for two spheres without an image, and otherwise a number in `special`, counted from 1.
    special: u32,
}

/// The rows of some successive spheres.
#[derive(Debug, Default)]
struct Rows {
    entries: Vec<Entry>,
    /// For each sphere, the end of its row.
    ends: Vec<u32>,
    /// For each sphere, its first entry with a larger sphere or with an image.
    middles: Vec<u32>,
    special: Vec<Candidate>,
}

impl Rows {
    fn range(&self, sphere: u32) -> std::ops::Range<usize> {
        let place = sphere as usize % SPHERES;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[place] as usize
    }

    fn push(&mut self, other: u32, special: Option<Candidate>) -> Result<(), Error> {
        let mut entry = Entry { other, special: 0 };
        if let Some(candidate) = special {
            push(&mut self.special, candidate)?;
            entry.special = index(self.special.len());
        }
        push(&mut self.entries, entry)
    }

    /// Changes the images of a row for a sphere that has been wrapped. With `of`, changes only the candidates with
    /// this sphere.
    fn cross(
        &mut self,
        row: u32,
        of: Option<u32>,
        ids: &[u32],
        change: impl Fn(&mut Candidate),
    ) -> Result<(), Error> {
        for place in self.range(row) {
            let Entry { other, special } = self.entries[place];
            if of.is_some_and(|of| of != other) {
                continue;
            }
            match special.checked_sub(1) {
                Some(special) => change(&mut self.special[special as usize]),
                None => {
                    let mut candidate = pair([row, other], [0; 3], ids);
                    change(&mut candidate);
                    push(&mut self.special, candidate)?;
                    self.entries[place].special = index(self.special.len());
                }
            }
        }
        Ok(())
    }
}

#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// Whether all candidates of the present spheres are known.
    valid: bool,
    /// Time of the simulation at the search.
    time: f64,
    /// Time after the search up to which the candidates are known.
    horizon: f64,
    origins: Vec<DVec3>,
    /// The cells by which each sphere has been wrapped since the search. Empty in open space.
    crossed: Vec<[i32; 3]>,
    pads: Vec<f64>,
    /// A tree of the spheres at their origins, with their pads.
    boxes: Boxes,
    /// The candidates of all spheres that the tree has found.
    rows: Vec<Rows>,
    /// Number of pairs of spheres in `rows`.
    pairs: usize,
    /// The candidates at walls, and those that were found later. Each stands under all of its spheres, sorted by
    /// them.
    later: Vec<(u32, Candidate)>,
    /// Number of `later` right after the search.
    at_walls: usize,
    /// One bit for each sphere: whether it is in `later`.
    with_later: Vec<u64>,
    /// The indices of all spheres that have not been removed.
    everyone: Vec<u32>,
}

impl Candidates {
    /// Marks the candidates as outdated.
    pub(crate) fn forget(&mut self) {
        self.valid = false;
    }

    /// Returns whether the candidates of a substep of `count` spheres are known.
    pub(crate) fn cover(&self, time: f64, duration: f64, count: usize) -> bool {
        let many = self.later.len() > self.at_walls + count / 2 + 1000;
        self.valid && !many && time - self.time + duration <= self.horizon
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
        (self.time, self.horizon) = (start.time, horizon);
        make_pads(&mut self.pads, start, horizon)?;
        check_range(start, &self.pads)?;
        self.origins.clear();
        reserve(&mut self.origins, count)?;
        let centers = spheres.par_iter().map(|sphere| sphere.center);
        self.origins.par_extend(centers);
        self.crossed.clear();
        if !lattice.is_open() {
            reserve(&mut self.crossed, count)?;
            self.crossed.resize(count, [0; 3]);
        }
        self.later.clear();
        self.with_later.clear();
        reserve(&mut self.with_later, count.div_ceil(64))?;
        self.with_later.resize(count.div_ceil(64), 0);
        let Self { boxes, pads, .. } = self;
        let leaves = (0..count.div_ceil(EIGHT)).into_par_iter();
        boxes.fill(leaves.map(|leaf| {
            Leaf::new((EIGHT * leaf..count.min(EIGHT * (leaf + 1))).map(|place| {
                let sphere = &spheres[place];
                let present = !start.removed[place];
                present.then(|| enlarged(sphere.center, sphere.radius + pads[place], lattice))
            }))
        }))?;
        self.fill_rows(start)?;
        if start.walls.len() > 0 {
            self.everyone.clear();
            reserve(&mut self.everyone, count)?;
            let present = |&place: &u32| !start.removed[place as usize];
            self.everyone.extend((0..index(count)).filter(present));
            let searching = self.searching(start, &self.everyone);
            let found = start.walls.find(detector, lattice, &searching)?;
            self.add(&found)?;
        }
        self.at_walls = self.later.len();
        self.valid = true;
        Ok(())
    }

    /// Finds the pairs of spheres in the tree that overlap.
    fn fill_rows(&mut self, start: &Start<'_>) -> Result<(), Error> {
        let Self { boxes, rows, .. } = self;
        let parts = start.spheres.len().div_ceil(SPHERES);
        rows.truncate(parts);
        reserve(rows, parts - rows.len())?;
        rows.resize_with(parts, Rows::default);
        let entries = AtomicUsize::new(0);
        let all = rows.par_iter_mut().enumerate();
        let results = all.map_init(Default::default, |scratch, (part, rows)| {
            fill_part(part, rows, boxes, start, scratch, &entries)
        });
        // The first error does not depend on the threads, unless there are too many pairs.
        results
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Result<(), _>>()?;
        self.pairs = entries.into_inner() / 2;
        Ok(())
    }

    fn searching<'a>(&'a self, start: &Start<'a>, who: &'a [u32]) -> Searching<'a> {
        Searching {
            who,
            spheres: start.spheres,
            ids: start.ids,
            groups: &start.options.groups,
            origins: &self.origins,
            pads: &self.pads,
            boxes: &self.boxes,
            time: self.time,
            duration: self.horizon,
        }
    }

    /// Adds candidates to those that were found later.
    fn add(&mut self, new: &[Candidate]) -> Result<(), Error> {
        for candidate in new {
            let [a, b] = candidate.ends();
            for sphere in [Some(a), (a != b).then_some(b)].into_iter().flatten() {
                push(&mut self.later, (sphere, *candidate))?;
                self.with_later[sphere as usize / 64] |= 1 << (sphere % 64);
            }
        }
        // A stable sort is fast if a part of the list is sorted.
        self.later.sort();
        Ok(())
    }

    /// Gives wider pads to spheres that have left theirs, and searches anew for these spheres. `leavers` has
    /// the index of each and the distance that it has moved from its origin. Returns the new candidates.
    pub(crate) fn widen(
        &mut self,
        detector: &mut Detector,
        start: &Start<'_>,
        leavers: &[(u32, f64)],
    ) -> Result<Vec<Candidate>, Error> {
        if leavers.is_empty() {
            return Ok(Vec::new());
        }
        for &(sphere, moved) in leavers {
            let place = sphere as usize;
            let pad = WIDER * moved;
            let radius = start.spheres[place].radius + pad;
            let wider = enlarged(self.origins[place], radius, start.lattice);
            check_sphere(start.ids[place], &wider)?;
            self.pads[place] = pad;
            self.boxes.grow(sphere, &wider);
        }
        let found = leavers
            .par_iter()
            .map(|&(sphere, _)| self.near(sphere, start));
        let found: Vec<Result<_, Error>> = found.collect();
        let found: Result<Vec<_>, Error> = found.into_iter().collect();
        let mut new = found?.concat();
        if start.walls.len() > 0 {
            let who: Vec<_> = leavers.iter().map(|&(sphere, _)| sphere).collect();
            let searching = self.searching(start, &who);
            for mut found in start.walls.find(detector, start.lattice, &searching)? {
                found.image = sum(found.image, self.crossed(found.sphere), 1);
                if !self.has(&found, start.ids) {
                    push(&mut new, found)?;
                }
            }
        }
        new.sort_unstable();
        new.dedup();
        self.add(&new)?;
        Ok(new)
    }

    /// Returns the unknown candidates of a sphere with other spheres.
    fn near(&self, sphere: u32, start: &Start<'_>) -> Result<Vec<Candidate>, Error> {
        let mut new = Vec::new();
        let Some(own) = self.boxes.sphere(sphere) else {
            return Ok(new);
        };
        let center = DVec3::from(own.center.map(f64::from));
        let reach = f64::from(own.radius) + f64::from(self.boxes.most_radius());
        let images = start.lattice.images_within(center, reach);
        let images = images.ok_or(out_of_range(start.ids[sphere as usize]))?;
        let mut result = Ok(());
        images.each(|image| {
            let center = center - start.lattice.shift(image);
            let displaced = enlarged(center, own.radius.into(), start.lattice);
            self.boxes.each_near(&displaced, &mut |other| {
                let image = sum(image, self.crossed(other), 1);
                let image = sum(image, self.crossed(sphere), -1);
                if other != sphere && can_meet([sphere, other], start) && result.is_ok() {
                    let found = pair([sphere, other], image, start.ids);
                    if !self.has(&found, start.ids) {
                        result = push(&mut new, found);
                    }
                }
            });
        });
        result.map(|()| new)
    }

    /// Changes the images of the candidates of spheres that have been wrapped by these cells.
    pub(crate) fn cross(&mut self, crossed: &[(u32, [i32; 3])], ids: &[u32]) -> Result<(), Error> {
        if !self.valid {
            return Ok(());
        }
        let mut others = Vec::new();
        for &(sphere, by) in crossed {
            let cells = &mut self.crossed[sphere as usize];
            *cells = sum(*cells, by, 1);
            let change = |candidate: &mut Candidate| {
                let first = candidate.sphere == sphere && candidate.other().is_some();
                candidate.image = sum(candidate.image, by, if first { -1 } else { 1 });
            };
            others.clear();
            let rows = &mut self.rows[sphere as usize / SPHERES];
            for entry in &rows.entries[rows.range(sphere)] {
                push(&mut others, entry.other)?;
            }
            rows.cross(sphere, None, ids, change)?;
            others.sort_unstable();
            others.dedup();
            for &other in &others {
                self.rows[other as usize / SPHERES].cross(other, Some(sphere), ids, change)?;
            }
        }
        if self.later.is_empty() || crossed.is_empty() {
            return Ok(());
        }
        // Every candidate stands under both of its spheres, so each copy is changed for each of them.
        let by = |sphere: u32| {
            let found = crossed.binary_search_by_key(&sphere, |crossed| crossed.0);
            found.map_or([0; 3], |place| crossed[place].1)
        };
        for (_, candidate) in &mut self.later {
            let (own, image) = (by(candidate.sphere), candidate.image);
            candidate.image = match candidate.other() {
                Some(other) => sum(sum(image, own, -1), by(other), 1),
                None => sum(image, own, 1),
            };
        }
        Ok(())
    }

    fn crossed(&self, sphere: u32) -> [i32; 3] {
        self.crossed
            .get(sphere as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Returns the origin of a sphere, as seen from its present cell.
    #[inline]
    pub(crate) fn origin(&self, sphere: u32, lattice: &Lattice) -> DVec3 {
        let origin = self.origins[sphere as usize];
        match self.crossed(sphere) {
            [0, 0, 0] => origin,
            crossed => origin - lattice.shift(crossed),
        }
    }

    fn has(&self, candidate: &Candidate, ids: &[u32]) -> bool {
        let sphere = candidate.sphere;
        self.of(sphere)
            .any(|near| near.candidate(sphere, ids) == *candidate)
    }

    /// Returns all candidates, sorted by their spheres.
    pub(crate) fn list(&self, ids: &[u32]) -> Result<Vec<Candidate>, Error> {
        let mut list = Vec::new();
        for sphere in 0..index(self.origins.len()) {
            for near in self.of(sphere).filter(|near| near.other >= sphere) {
                push(&mut list, near.candidate(sphere, ids))?;
            }
        }
        Ok(list)
    }

    fn has_later(&self, sphere: u32) -> bool {
        self.with_later[sphere as usize / 64] >> (sphere % 64) & 1 != 0
    }

    /// Returns the number of pairs of spheres that the search has found.
    pub(crate) fn pairs(&self) -> usize {
        self.pairs
    }

    /// Returns the candidates of a sphere.
    #[inline]
    pub(crate) fn of(&self, sphere: u32) -> impl Iterator<Item = Near<'_>> {
        let rows = &self.rows[sphere as usize / SPHERES];
        self.rest(sphere, rows, rows.range(sphere))
    }

    /// Returns the candidates of a sphere with larger spheres and with walls.
    #[inline]
    pub(crate) fn of_larger(&self, sphere: u32) -> impl Iterator<Item = Near<'_>> {
        let rows = &self.rows[sphere as usize / SPHERES];
        let middle = rows.middles[sphere as usize % SPHERES] as usize;
        let rest = self.rest(sphere, rows, middle..rows.range(sphere).end);
        rest.filter(move |near| near.other >= sphere)
    }

    /// Returns a part of the row of a sphere, and the candidates of the sphere that were found later.
    #[inline]
    fn rest<'a>(
        &'a self,
        sphere: u32,
        rows: &'a Rows,
        range: std::ops::Range<usize>,
    ) -> impl Iterator<Item = Near<'a>> {
        let later = if self.has_later(sphere) {
            let first = self.later.partition_point(|entry| entry.0 < sphere);
            &self.later[first..]
        } else {
            &[]
        };
        let later = later.iter().take_while(move |entry| entry.0 == sphere);
        let later = later.map(move |(_, candidate)| Near {
            other: candidate.other_than(sphere),
            special: Some(candidate),
        });
        let row = rows.entries[range].iter().map(|entry| Near {
            other: entry.other,
            special: match entry.special.checked_sub(1) {
                None => None,
                Some(special) => Some(&rows.special[special as usize]),
            },
        });
        row.chain(later)
    }

    #[inline]
    pub(crate) fn pad(&self, sphere: u32) -> f64 {
        self.pads[sphere as usize]
    }
}

/// Leaves and masks that the tree has found: see [`Boxes::join`].
type Found = Vec<(u32, [u8; EIGHT])>;

/// Fills the rows of a part of the spheres.
fn fill_part(
    part: usize,
    rows: &mut Rows,
    boxes: &Boxes,
    start: &Start<'_>,
    (found, displaced): &mut (Found, Vec<([i32; 3], Found)>),
    entries: &AtomicUsize,
) -> Result<(), Error> {
    let &Start { ids, lattice, .. } = start;
    rows.entries.clear();
    rows.ends.clear();
    rows.middles.clear();
    rows.special.clear();
    reserve(&mut rows.ends, SPHERES)?;
    reserve(&mut rows.middles, SPHERES)?;
    let options = start.options;
    let no_rules = options.bodies.is_empty() && options.groups.is_empty();
    let own = &start.spheres[SPHERES * part..start.spheres.len().min(SPHERES * (part + 1))];
    // Two fixed spheres do not meet, so one that is not fixed meets every other.
    let all_meet = no_rules && !own.iter().any(HardSphere::is_fixed);
    let leaves = SPHERES / EIGHT;
    for leaf in leaves * part..boxes.leaves().min(leaves * (part + 1)) {
        let (own, bounds) = (boxes.leaf(leaf), boxes.bounds(leaf));
        found.clear();
        boxes.join(own, bounds, found);
        displaced.clear();
        if !lattice.is_open() {
            let (middle, radius) = bounds.middle();
            let middle = DVec3::from(middle.map(f64::from));
            let reach = f64::from(radius) + f64::from(boxes.most_radius());
            let images = lattice.images_within(middle, reach);
            let images = images.ok_or(out_of_range(ids[EIGHT * leaf]))?;
            images.each(|image| {
                if image != [0; 3] {
                    let shift = lattice.shift(image);
                    let spheres = (0..EIGHT).map(|place| {
                        let sphere = own.sphere(place)?;
                        let center = DVec3::from(sphere.center.map(f64::from)) - shift;
                        Some(enlarged(center, sphere.radius.into(), lattice))
                    });
                    let moved = Leaf::new(spheres);
                    let mut found = Vec::new();
                    boxes.join(&moved, &moved.bounds(), &mut found);
                    if !found.is_empty() {
                        displaced.push((image, found));
                    }
                }
            });
        }
        for place in 0..EIGHT.min(start.spheres.len() - EIGHT * leaf) {
            let sphere = index(EIGHT * leaf + place);
            let mut smaller = 0;
            let first = rows.entries.len();
            for (near, masks) in &*found {
                reserve(&mut rows.entries, EIGHT)?;
                for other in Bits(masks[place].into()) {
                    let other = near * EIGHT as u32 + other as u32;
                    if other != sphere && (all_meet || can_meet([sphere, other], start)) {
                        rows.entries.push(Entry { other, special: 0 });
                        smaller += usize::from(other < sphere);
                    }
                }
            }
            for (image, found) in &*displaced {
                for (near, masks) in found {
                    for other in Bits(masks[place].into()) {
                        let other = near * EIGHT as u32 + other as u32;
                        if other != sphere && (all_meet || can_meet([sphere, other], start)) {
                            rows.push(other, Some(pair([sphere, other], *image, ids)))?;
                        }
                    }
                }
            }
            let end = u32::try_from(rows.entries.len());
            rows.ends.push(end.map_err(|_| too_many_pairs())?);
            rows.middles.push(index(first + smaller));
        }
        // A world that is too crowded ends here, before it takes all memory.
        if entries.load(Ordering::Relaxed) + rows.entries.len() > 2 * MAX_PAIRS {
            return Err(too_many_pairs());
        }
    }
    entries.fetch_add(rows.entries.len(), Ordering::Relaxed);
    Ok(())
}

fn too_many_pairs() -> Error {
    Error::TooManyPairs {
        needed: MAX_PAIRS as u64 + 1,
        limit: MAX_PAIRS as u64,
    }
}

fn out_of_range(id: u32) -> Error {
    Error::ImageOutOfRange {
        index: id as usize,
        set: None,
        limit: Lattice::MOST_CELLS,
    }
}

/// Returns an error if a sphere has a number that is out of range.
fn check_sphere(id: u32, sphere: &Sphere) -> Result<(), Error> {
    match invalid_field(sphere, 0.0) {
        None => Ok(()),
        Some((field, value)) => Err(Error::InvalidSphere {
            index: id as usize,
            set: None,
            field,
            value,
        }),
    }
}

/// Returns an error if a sphere with its pad has a number that is out of range.
fn check_range(start: &Start<'_>, pads: &[f64]) -> Result<(), Error> {
    let check = |place: usize| {
        let sphere = &start.spheres[place];
        let radius = sphere.radius + pads[place];
        check_sphere(
            start.ids[place],
            &enlarged(sphere.center, radius, start.lattice),
        )
    };
    let all = (0..pads.len())
        .into_par_iter()
        .filter(|&place| !start.removed[place] && check(place).is_err());
    match all.min_by_key(|&place| start.ids[place]) {
        Some(place) => check(place),
        None => Ok(()),
    }
}

impl Candidate {
    /// Returns the other sphere, or the sphere itself at a wall.
    fn other_than(&self, sphere: u32) -> u32 {
        let [a, b] = self.ends();
        if a == sphere { b } else { a }
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

#[allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³⁰ spheres"
)]
fn index(number: usize) -> u32 {
    number as u32
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
fn enlarged(center: DVec3, radius: f64, lattice: &Lattice) -> Sphere {
    let rounded = center.as_vec3();
    let rounding = (rounded.as_dvec3() - center).length();
    // Wrapping rounds the places of spheres in units of the cell.
    let wrapping = 8.0 * f64::EPSILON * lattice.size();
    let radius = (radius + rounding + wrapping) * (1.0 + 1e-12);
    Sphere::new(rounded, (radius as f32).next_up())
}

/// Returns the candidate of two spheres. `image` is the image of the second one.
fn pair([a, b]: [u32; 2], image: [i32; 3], ids: &[u32]) -> Candidate {
    let (sphere, other, image) = if ids[a as usize] <= ids[b as usize] {
        (a, b, image)
    } else {
        (b, a, image.map(|n| -n))
    };
    Candidate {
        sphere,
        partner: Partner::Sphere(other),
        image,
    }
}

/// Returns false for two spheres of one body, for two that ignore each other by their groups, and for two of
/// infinite mass, which pass through each other.
fn can_meet([a, b]: [u32; 2], start: &Start<'_>) -> bool {
    let [first, second] = [a, b].map(|sphere| start.ids[sphere as usize] as usize);
    let bodies = &start.options.bodies;
    let body = |id: usize| bodies.get(id).copied().flatten();
    let together = body(first).is_some() && body(first) == body(second);
    let groups = &start.options.groups;
    let grouped = |id: usize| Sphere {
        groups: groups.get(id).copied().unwrap_or_default(),
        ..Sphere::default()
    };
    let ignored = !groups.is_empty() && grouped(first).ignores(&grouped(second));
    let fixed = |sphere: u32| start.spheres[sphere as usize].is_fixed();
    !(together || ignored || fixed(a) && fixed(b))
}
