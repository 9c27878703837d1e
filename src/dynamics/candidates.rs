//! Candidates: the pairs of spheres that can touch while every sphere stays within its pad.
//!
//! The pad of a sphere is a bound on the distance that it moves from its *origin*, its place at the time of the
//! search. A detector finds the pairs of spheres at rest, each enlarged by its pad, that overlap. The centres and
//! radii that the detector gets are float32, so each radius also covers the rounding of its centre.
//!
//! The candidates serve several substeps. A sphere that leaves its pad gets a wider one, and is sought anew in a tree
//! of boxes. In a periodic domain, spheres are wrapped after each substep. The origins stay as they are, and the
//! images of the candidates change with the wrapping.

use glam::DVec3;
use rayon::prelude::*;

use super::boxes::{Boxes, EIGHT, Leaf};
use super::lattice::{Images, Lattice};
use super::rows::{push, reserve};
use super::substep::Start;
use super::walls::{MovingWalls, Searching};
use super::{HardSphere, Partner};
use crate::limits::most_images;
use crate::validate::invalid_field;
use crate::{Collision, Collisions, Detector, Error, Sphere, Step};

/// Initial pad, relative to the distance that the sphere moves until the next search if it meets nothing.
const PAD: f64 = 1.2;

/// Slowest speed that a pad is made for, relative to the mean speed of all spheres. A slow sphere is likely to
/// be hit by a faster one.
const SLOWEST: f64 = 0.9;

/// New pad of a sphere that has left its pad, relative to the distance that it has moved.
const WIDER: f64 = 1.5;

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
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    other: u32,
    /// 0 for two spheres without an image, and otherwise a number in `special`, counted from 1.
    special: u32,
}

/// The candidates that a search has found, in a row for each sphere. A row has first the candidates with spheres of
/// smaller index, then those with spheres of larger index, each part in order.
#[derive(Debug, Default)]
struct CandidateRows {
    entries: Vec<Entry>,
    /// For each sphere, the start of its row. At the end, the number of all entries.
    starts: Vec<u32>,
    /// For each sphere, the end of its entries with spheres of smaller index.
    middles: Vec<u32>,
    special: Vec<Candidate>,
    /// While the rows are filled: for each sphere, the place of its next entry with a sphere of smaller index.
    cursors: Vec<u32>,
}

impl CandidateRows {
    /// Fills the rows from sorted pairs. `images` is empty in open space.
    fn fill(
        &mut self,
        pairs: &[Collision],
        images: &[[i32; 3]],
        start: &Start<'_>,
    ) -> Result<(), Error> {
        let count = start.spheres.len();
        let Self {
            entries,
            starts,
            middles,
            special,
            cursors,
        } = self;
        for list in [&mut *starts, middles] {
            list.clear();
            reserve(list, count + 1)?;
            list.resize(count + 1, 0);
        }
        for pair in pairs {
            middles[pair.b as usize] += 1;
            starts[pair.a as usize] += 1;
        }
        let mut end = 0;
        for (start, middle) in starts.iter_mut().zip(&mut *middles) {
            let [smaller, larger] = [*middle, *start];
            (*start, *middle) = (end, end + smaller);
            end += smaller + larger;
        }
        cursors.clear();
        reserve(cursors, count + 1)?;
        cursors.extend_from_slice(starts);
        special.clear();
        entries.clear();
        reserve(entries, 2 * pairs.len())?;
        entries.resize(2 * pairs.len(), Entry::default());
        let (mut sphere, mut larger) = (u32::MAX, 0);
        for (number, pair) in pairs.iter().enumerate() {
            let [a, b] = [pair.a, pair.b];
            if a != sphere {
                (sphere, larger) = (a, middles[a as usize]);
            }
            // Each of both entries has its own copy of a special candidate.
            let mut numbers = [0; 2];
            if let Some(&image) = images.get(number).filter(|&&image| image != [0; 3]) {
                for number in &mut numbers {
                    push(special, self::pair([a, b], image, start.ids))?;
                    *number = index(special.len());
                }
            }
            let cursor = &mut cursors[b as usize];
            for (place, other, special) in [(larger, b, numbers[0]), (*cursor, a, numbers[1])] {
                entries[place as usize] = Entry { other, special };
            }
            larger += 1;
            *cursor += 1;
        }
        Ok(())
    }

    /// Returns the places of the entries of a sphere.
    fn range(&self, sphere: u32) -> std::ops::Range<usize> {
        let sphere = sphere as usize;
        self.starts[sphere] as usize..self.starts[sphere + 1] as usize
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
    /// The spheres at their origins with their pads, at rest.
    padded: Vec<Sphere>,
    /// A tree of `padded`, unless no sphere has left its pad since the search.
    boxes: Boxes,
    has_boxes: bool,
    found: Collisions,
    /// The candidate pairs of spheres that the search has found, listed by sphere.
    rows: CandidateRows,
    /// The candidates at walls, and the candidates that were found after the search. Each has an entry for each of its
    /// spheres, and the entries are sorted by sphere.
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
        let groups = &start.options.groups;
        let group = |place: usize| groups.get(start.ids[place] as usize).copied();
        let (padded, pads) = (&mut self.padded, &self.pads);
        padded.clear();
        reserve(padded, count)?;
        let all = spheres.par_iter().zip(pads).enumerate();
        padded.par_extend(all.map(|(place, (sphere, &pad))| {
            if start.removed[place] {
                // A small sphere has few pairs, which are discarded.
                return Sphere::new(sphere.center.as_vec3(), 0.0);
            }
            Sphere {
                groups: group(place).unwrap_or_default(),
                ..enlarged(sphere.center, sphere.radius + pad, lattice)
            }
        }));
        self.has_boxes = false;
        let step = Step::new(&self.padded, 0.0).in_domain(lattice.domain());
        let found = detector.detect_into(&step, &mut self.found);
        found.map_err(|error| known(error, start.ids))?;
        self.discard(start);
        self.rows
            .fill(&self.found.pairs, &self.found.images, start)?;
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

    /// Discards the pairs that never meet.
    fn discard(&mut self, start: &Start<'_>) {
        let plain = start.options.bodies.is_empty()
            && !start.removed.par_iter().any(|&removed| removed)
            && !start.spheres.par_iter().any(HardSphere::is_fixed);
        let meet = |pair: &Collision| {
            let pair = [pair.a, pair.b];
            pair[0] != pair[1] && (plain || can_meet(pair, start))
        };
        let Collisions { pairs, images, .. } = &mut self.found;
        if pairs.par_iter().all(meet) {
            return;
        }
        let mut kept = 0;
        for place in 0..pairs.len() {
            let pair = pairs[place];
            if meet(&pair) {
                pairs[kept] = pair;
                if let Some(&image) = images.get(place) {
                    images[kept] = image;
                }
                kept += 1;
            }
        }
        pairs.truncate(kept);
        images.truncate(kept);
    }

    fn searching<'a>(&'a self, start: &Start<'a>, who: &'a [u32]) -> Searching<'a> {
        Searching {
            who,
            spheres: start.spheres,
            ids: start.ids,
            origins: &self.origins,
            pads: &self.pads,
            padded: &self.padded,
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
        if !self.has_boxes {
            let leaves = self.padded.par_chunks(EIGHT);
            self.boxes.fill(leaves.map(Leaf::new))?;
            self.has_boxes = true;
        }
        for &(sphere, moved) in leavers {
            let place = sphere as usize;
            let pad = WIDER * moved;
            let radius = start.spheres[place].radius + pad;
            let wider = enlarged(self.origins[place], radius, start.lattice);
            check_sphere(start.ids[place], &wider)?;
            self.pads[place] = pad;
            self.padded[place].radius = wider.radius;
            self.boxes.grow(sphere, &wider);
        }
        let limit = most_images(start.spheres.len());
        let mut needed = 0_u64;
        for &(sphere, _) in leavers {
            needed = needed.saturating_add(self.images_near(sphere, start)?.count());
        }
        if needed > limit {
            return Err(Error::TooManyImages { needed, limit });
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
                let crossed = start
                    .walls
                    .told_apart(found.partner, self.crossed(found.sphere));
                found.image = sum(found.image, crossed, 1);
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

    /// Returns the images of a sphere that may overlap others.
    fn images_near(&self, sphere: u32, start: &Start<'_>) -> Result<Images, Error> {
        let own = self.padded[sphere as usize];
        let center = DVec3::from(own.center.map(f64::from));
        let reach = f64::from(own.radius) + f64::from(self.boxes.most_radius());
        let images = start.lattice.images_within(center, reach);
        images.ok_or(out_of_range(start.ids[sphere as usize]))
    }

    /// Returns the candidates of a sphere with other spheres that are not in the lists yet.
    fn near(&self, sphere: u32, start: &Start<'_>) -> Result<Vec<Candidate>, Error> {
        let mut new = Vec::new();
        let own = self.padded[sphere as usize];
        let center = DVec3::from(own.center.map(f64::from));
        let mut result = Ok(());
        self.images_near(sphere, start)?.each(|image| {
            let center = center - start.lattice.shift(image);
            let displaced = enlarged(center, own.radius.into(), start.lattice);
            self.boxes.each_near(&displaced, &mut |other| {
                let image = sum(image, self.crossed(other), 1);
                let image = sum(image, self.crossed(sphere), -1);
                if can_meet([sphere, other], start) && result.is_ok() {
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
    pub(crate) fn cross(
        &mut self,
        crossed: &[(u32, [i32; 3])],
        ids: &[u32],
        walls: &MovingWalls,
    ) -> Result<(), Error> {
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
            let rows = &mut self.rows;
            for entry in &rows.entries[rows.range(sphere)] {
                push(&mut others, entry.other)?;
            }
            rows.cross(sphere, None, ids, change)?;
            others.sort_unstable();
            others.dedup();
            for &other in &others {
                rows.cross(other, Some(sphere), ids, change)?;
            }
        }
        if self.later.is_empty() || crossed.is_empty() {
            return Ok(());
        }
        // A candidate has an entry for each of its two spheres, so both entries are changed.
        let by = |sphere: u32| {
            let found = crossed.binary_search_by_key(&sphere, |crossed| crossed.0);
            found.map_or([0; 3], |place| crossed[place].1)
        };
        for (_, candidate) in &mut self.later {
            let (own, image) = (by(candidate.sphere), candidate.image);
            candidate.image = match candidate.other() {
                Some(other) => sum(sum(image, own, -1), by(other), 1),
                None => sum(image, walls.told_apart(candidate.partner, own), 1),
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
        let other = candidate.other_than(sphere);
        self.of(sphere)
            .any(|near| near.other == other && near.candidate(sphere, ids) == *candidate)
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
        self.found.pairs.len()
    }

    /// Returns the candidates of a sphere.
    #[inline]
    pub(crate) fn of(&self, sphere: u32) -> impl Iterator<Item = Near<'_>> {
        self.rest(sphere, self.rows.range(sphere))
    }

    /// Returns the candidates of a sphere with spheres of larger index and with walls.
    #[inline]
    pub(crate) fn of_larger(&self, sphere: u32) -> impl Iterator<Item = Near<'_>> {
        let middle = self.rows.middles[sphere as usize] as usize;
        let rest = self.rest(sphere, middle..self.rows.range(sphere).end);
        rest.filter(move |near| near.other >= sphere)
    }

    /// Returns a part of the row of a sphere, and the candidates of the sphere that were found later.
    #[inline]
    fn rest(&self, sphere: u32, range: std::ops::Range<usize>) -> impl Iterator<Item = Near<'_>> {
        let rows = &self.rows;
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

/// Returns an error of a search with the index that the caller knows the sphere by. An error of the second set, which
/// has the bounding spheres of walls, stays as it is.
pub(crate) fn known(error: Error, ids: &[u32]) -> Error {
    let id = |place: usize| ids.get(place).map_or(place, |&id| id as usize);
    match error {
        Error::InvalidSphere {
            index,
            set: None | Some(0),
            field,
            value,
        } => Error::InvalidSphere {
            index: id(index),
            set: None,
            field,
            value,
        },
        Error::ImageOutOfRange {
            index,
            set: None | Some(0),
            limit,
        } => Error::ImageOutOfRange {
            index: id(index),
            set: None,
            limit,
        },
        other => other,
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
    // Over the whole time, gravity moves a sphere at most this fast on average.
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

/// Returns false for a sphere and its own image, which do not move against each other, for two spheres of one
/// body, for two that ignore each other by their groups, for removed spheres, and for two spheres of infinite mass,
/// which pass through each other.
fn can_meet([sphere, other]: [u32; 2], start: &Start<'_>) -> bool {
    let ids = [sphere, other].map(|place| start.ids[place as usize] as usize);
    let bodies = &start.options.bodies;
    let body = |id: usize| bodies.get(id).copied().flatten();
    let together = body(ids[0]).is_some() && body(ids[0]) == body(ids[1]);
    let groups = &start.options.groups;
    let grouped = |id: usize| Sphere {
        groups: groups.get(id).copied().unwrap_or_default(),
        ..Sphere::default()
    };
    let ignored = !groups.is_empty() && grouped(ids[0]).ignores(&grouped(ids[1]));
    let removed = |place: u32| start.removed[place as usize];
    let gone = removed(sphere) || removed(other);
    let fixed = |place: u32| start.spheres[place as usize].is_fixed();
    let both_fixed = fixed(sphere) && fixed(other);
    !(other == sphere || ignored || together || gone || both_fixed)
}
