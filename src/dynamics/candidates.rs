//! Candidates: the pairs of spheres that can touch while every sphere stays within its pad.
//!
//! The *pad* of a sphere is an assumed bound on its distance from its *origin*, its centre at the time of the search
//! for candidates. The search enlarges the radius of each sphere by its pad and by the rounding of its centre to
//! float32, and finds all pairs of enlarged spheres that overlap while at rest.
//!
//! The candidates of one search serve several substeps. If a sphere moves farther than its pad, it gets a wider pad,
//! and its new candidates are searched in the tree of boxes of the last search.

use glam::DVec3;
use rayon::prelude::*;

use super::HardSphere;
use super::boxes::{Boxes, EIGHT, Leaf, NearLeaves, bounds_of};
use super::candidate::Candidate;
use super::candidate::Near;
use super::candidate::pair;
#[cfg(feature = "serde")]
use super::coded::{Coded, Coder, check, is_known};
use super::flights::{Flight, FlightUnits};
use super::islands::Islands;
use super::narrow::narrow;
use super::narrow::next_up;
use super::neighbors::CandidateRows;
use super::padded::Fine;
use super::padded::can_meet;
use super::padded::enlarged;
use super::padded::images_of_pair;
use super::padded::out_of_range;
use super::padded::overlap;
use super::rows::{SUBSTEP, push, reserve};
use super::start::Start;
use super::walls::Searching;
use super::work::Work;
#[cfg(feature = "serde")]
use super::{SimulationOptions, candidate::TouchKey, state::State};
use crate::lattice::{ImageBlock, Lattice};
use crate::limits::most_images;
use crate::memory::{collect, collect_in_parallel, joined};
use crate::validate::invalid_field;
use crate::{Detector, Error, MAX_MAGNITUDE, Sphere};

/// At first, a pad is this multiple of the distance that the sphere moves without impacts.
const PAD: f64 = 1.2;

/// The pad of a slow sphere is computed from this speed instead of its own, because a faster sphere
/// is likely to hit it. The speed is given as a multiple of the mean speed of all spheres.
const SLOWEST: f64 = 1.1;

/// A sphere that has moved farther than its pad gets a new pad: this multiple of the distance that it has moved.
const WIDER: f64 = 1.5;

/// Marks the end of a linked list of candidates.
const NONE: u32 = u32::MAX;

/// Candidates that [`CandidateRows`] cannot hold: spheres and walls, pairs with a periodic image, and pairs that were
/// added after the search. Each sphere has a linked list of these candidates.
#[derive(Clone, Debug, Default)]
struct Special {
    /// Each candidate is in the linked lists of both of its spheres. The two numbers are the
    /// indices in `list` of the next candidate in each of these linked lists.
    list: Vec<(Candidate, [u32; 2])>,
    /// For each sphere: the index in `list` of its first candidate, or [`NONE`].
    heads: Vec<u32>,
}

impl Special {
    fn reset(&mut self, spheres: usize) -> Result<(), Error> {
        self.list.clear();
        self.heads.clear();
        reserve(&mut self.heads, spheres)?;
        self.heads.resize(spheres, NONE);
        Ok(())
    }

    fn add(&mut self, candidate: Candidate) -> Result<(), Error> {
        let [a, b] = candidate.ends().map(|sphere| sphere as usize);
        let next = [self.heads[a], self.heads[b]];
        let place = narrow(self.list.len());
        push(&mut self.list, (candidate, next))?;
        (self.heads[a], self.heads[b]) = (place, place);
        Ok(())
    }

    /// Returns the candidates of a sphere.
    #[inline]
    fn of(&self, sphere: u32) -> impl Iterator<Item = &Candidate> {
        let mut place = self.heads[sphere as usize];
        std::iter::from_fn(move || {
            let (candidate, next) = self.list.get(place as usize)?;
            place = next[usize::from(candidate.sphere != sphere)];
            Some(candidate)
        })
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Candidates {
    /// Whether the last search succeeded, and nothing has outdated its candidates since then.
    valid: bool,
    /// Simulated time at which the candidates were searched.
    time: f64,
    /// For how long after the search the candidates can be used.
    horizon: f64,
    origins: Vec<DVec3>,
    /// The point from which the centres of `padded` are measured: the middle of all spheres in open space, and the
    /// origin in a periodic domain. So the search is as fine far from the origin as near it.
    middle: DVec3,
    /// How far the centres of spheres were outside the cell of a periodic domain at the time of the
    /// search: for each edge, the largest distance as a multiple of the edge.
    beyond: [f64; 3],
    pads: Vec<f64>,
    /// All spheres at their places at the time of the search, without velocities. The radius of
    /// each sphere includes its pad.
    padded: Vec<Sphere>,
    /// A tree of `padded`.
    boxes: Boxes,
    neighbors: CandidateRows,
    /// The motions of all spheres in the substep, in float32.
    flights: Vec<Flight>,
    units: FlightUnits,
    special: Special,
    /// Number of candidates in `special.list` right after the search.
    at_search: usize,
    /// Whether a sphere may meet a periodic image of another sphere.
    any_images: bool,
    /// The indices of all spheres that have not been removed.
    everyone: Vec<u32>,
    /// What all searches together have taken so far: see [`Work`].
    pub(crate) work: Work,
}

impl Candidates {
    /// Marks the candidates as outdated, so that [`cover`](Self::cover) returns false until the
    /// next search.
    pub(crate) fn forget(&mut self) {
        self.valid = false;
    }

    /// Returns whether the candidates of the last search serve for a substep that begins at `time`,
    /// takes `duration` and has `count` spheres.
    pub(crate) fn cover(&self, time: f64, duration: f64, count: usize) -> bool {
        let many = self.special.list.len() > self.at_search + count / 4 + 500;
        self.valid && !many && time - self.time + duration <= self.horizon
    }

    /// Finds the candidates: all pairs that may touch within the time `horizon` after the state
    /// `start`. This time may span several substeps.
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
        (self.units, self.beyond) = make_pads(&mut self.pads, start, horizon)?;
        let (units, beyond) = (self.units, self.beyond);
        self.middle = if lattice.is_open() {
            units.center
        } else {
            DVec3::ZERO
        };
        let middle = self.middle;
        self.origins.clear();
        reserve(&mut self.origins, count)?;
        let centers = spheres.par_iter().map(HardSphere::place);
        self.origins.par_extend(centers);
        let groups = &start.options.groups;
        let group = |place: usize| groups.get(start.ids[place] as usize).copied();
        let (padded, pads) = (&mut self.padded, &self.pads);
        padded.clear();
        reserve(padded, count)?;
        let all = spheres.par_iter().zip(pads).enumerate();
        padded.par_extend(all.map(|(place, (sphere, &pad))| {
            if start.removed[place] {
                // A removed sphere takes part with radius 0, so that few pairs are found with it.
                // The search then discards these pairs.
                return Sphere::new((sphere.place() - middle).as_vec3(), 0.0);
            }
            Sphere {
                groups: group(place).unwrap_or_default(),
                ..enlarged(sphere.place() - middle, sphere.radius + pad, lattice)
            }
        }));
        check_all(padded, middle, start.ids)?;
        self.flights.clear();
        reserve(&mut self.flights, count)?;
        self.flights
            .par_extend(spheres.par_iter().map(|sphere| units.flight(sphere)));
        let leaves = self.padded.par_chunks(EIGHT);
        self.any_images = !lattice.is_open() && !none_meet(start);
        self.boxes.fill(leaves.map(Leaf::new), self.any_images)?;
        let (boxes, any_images) = (&self.boxes, self.any_images);
        // Where the rounding to float32 is large, pairs are tested in float64.
        let fine = Fine {
            origins: &self.origins,
            pads: &self.pads,
            spheres,
        };
        let fine = units.is_coarse().then_some(fine);
        self.neighbors.search(
            &self.padded,
            boxes,
            start,
            any_images,
            beyond,
            fine,
            &mut self.work,
        )?;
        self.special.reset(count)?;
        for (ends, image) in self.neighbors.with_images() {
            self.special.add(pair(ends, image, start.ids))?;
        }
        if start.walls.len() > 0 {
            self.everyone.clear();
            reserve(&mut self.everyone, count)?;
            let present = |&place: &u32| !start.removed[place as usize];
            self.everyone.extend((0..narrow(count)).filter(present));
            let searching = self.searching(start, &self.everyone);
            let meshes = start.options.walls.meshes();
            let mut work = Work::default();
            let found = start
                .walls
                .find(detector, lattice, meshes, &searching, &mut work);
            self.work.join(work);
            for found in found? {
                self.special.add(found)?;
            }
        }
        self.at_search = self.special.list.len();
        self.valid = true;
        Ok(())
    }

    /// Writes what the next substep depends on, or reads it. There are `counts` spheres and walls.
    #[cfg(feature = "serde")]
    pub(crate) fn code(
        &mut self,
        coder: &mut Coder,
        state: &State,
        options: &SimulationOptions,
        lattice: &Lattice,
        counts: [usize; 2],
    ) -> Result<(), String> {
        self.valid.code(coder)?;
        if !self.valid {
            return Ok(());
        }
        self.time.code(coder)?;
        self.horizon.code(coder)?;
        self.origins.code(coder)?;
        self.middle.code(coder)?;
        self.beyond.code(coder)?;
        self.pads.code(coder)?;
        self.units.code(coder)?;
        let [count, _] = counts;
        let valid = [self.origins.len(), self.pads.len()] == [count; 2]
            && self.origins.iter().all(|origin| origin.is_finite())
            && self
                .pads
                .iter()
                .all(|pad| (0.0..f64::INFINITY).contains(pad))
            && self.middle.is_finite();
        check(valid, "candidates")?;
        self.neighbors.code(coder, count)?;
        let list = self.special.list.iter();
        let mut special: Vec<TouchKey> = list.map(|(candidate, _)| candidate.parts()).collect();
        special.code(coder)?;
        let known = special.iter().all(|key| is_known(key, counts));
        check(known, "candidates")?;
        self.at_search.code(coder)?;
        self.any_images.code(coder)?;
        if matches!(coder, Coder::Reader(_)) {
            let text = |error: Error| error.to_string();
            check(self.at_search <= special.len(), "candidates")?;
            self.special.reset(count).map_err(text)?;
            for (sphere, partner, image) in special {
                let candidate = Candidate {
                    sphere,
                    partner,
                    image,
                };
                self.special.add(candidate).map_err(text)?;
            }
            let units = self.units;
            self.flights = state
                .spheres
                .iter()
                .map(|sphere| units.flight(sphere))
                .collect();
            let padded = (0..count).map(|place| {
                let center = self.origins[place] - self.middle;
                if state.removed[place] {
                    return Sphere::new(center.as_vec3(), 0.0);
                }
                let group = options.groups.get(state.ids[place] as usize);
                let radius = state.spheres[place].radius + self.pads[place];
                Sphere {
                    groups: group.copied().unwrap_or_default(),
                    ..enlarged(center, radius, lattice)
                }
            });
            self.padded = padded.collect();
            check_all(&self.padded, self.middle, &state.ids).map_err(text)?;
            let leaves = self.padded.par_chunks(EIGHT);
            let boxes = &mut self.boxes;
            boxes
                .fill(leaves.map(Leaf::new), self.any_images)
                .map_err(text)?;
        }
        self.boxes.code(coder, count)
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

    /// Gives wider pads to spheres that have moved farther than their pads, and searches for the
    /// candidates of these spheres. `leavers` has the index of each such sphere, and the distance
    /// that it has moved since the last search. Returns the candidates that are new.
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
            let wider = enlarged(self.origins[place] - self.middle, radius, start.lattice);
            check_sphere(start.ids[place], &wider, self.middle)?;
            self.pads[place] = pad;
            self.padded[place].radius = wider.radius;
            self.boxes.grow(sphere, &wider);
            self.units.include(&wider, self.middle);
        }
        let limit = most_images(start.spheres.len());
        let mut needed = 0_u64;
        for &(sphere, _) in leavers {
            needed = needed.saturating_add(self.images_near(sphere, start)?.count());
            for other in self.wide_near(sphere) {
                let images = self.images_of_wide([sphere, other], start)?;
                needed = needed.saturating_add(images.count());
            }
        }
        if needed > limit {
            return Err(Error::TooManyImages { needed, limit });
        }
        self.work.add(Work::IMAGE, needed);
        let found = leavers
            .par_iter()
            .map(|&(sphere, _)| self.near(sphere, start));
        let mut new = joined(collect_in_parallel(found, SUBSTEP)?, SUBSTEP)?;
        if start.walls.len() > 0 {
            let who = collect(leavers.iter().map(|&(sphere, _)| sphere), SUBSTEP)?;
            let searching = self.searching(start, &who);
            let meshes = start.options.walls.meshes();
            let mut work = Work::default();
            let found = start
                .walls
                .find(detector, start.lattice, meshes, &searching, &mut work);
            self.work.join(work);
            for found in found? {
                if !self.has(&found, start.ids) {
                    push(&mut new, found)?;
                }
            }
        }
        new.sort_unstable();
        new.dedup();
        self.work.add(Work::PAIR, new.len() as u64);
        for candidate in &new {
            self.special.add(*candidate)?;
        }
        Ok(new)
    }

    /// Returns all wide spheres except `sphere` itself.
    fn wide_near(&self, sphere: u32) -> impl Iterator<Item = u32> {
        let wide = self.boxes.wide().iter().copied();
        wide.filter(move |&other| other != sphere)
    }

    /// Returns the periodic images of the second sphere of a pair that the first sphere may
    /// overlap. The second sphere is wide.
    fn images_of_wide(&self, pair: [u32; 2], start: &Start<'_>) -> Result<ImageBlock, Error> {
        let spheres = pair.map(|place| &self.padded[place as usize]);
        let images = images_of_pair(spheres, start.lattice);
        images.ok_or(out_of_range(start.ids[pair[0] as usize]))
    }

    /// Returns the periodic displacements that may bring another sphere into overlap with the
    /// sphere number `sphere`. Wide spheres do not count as other spheres here.
    fn images_near(&self, sphere: u32, start: &Start<'_>) -> Result<ImageBlock, Error> {
        if !self.any_images {
            return Ok(ImageBlock::default());
        }
        let own = self.padded[sphere as usize];
        let center = DVec3::from(own.center.map(f64::from));
        let reach = f64::from(own.radius) + f64::from(self.boxes.most_radius());
        let images = start.lattice.images_within(center, reach, self.beyond);
        images.ok_or(out_of_range(start.ids[sphere as usize]))
    }

    /// Searches for all spheres that may touch the sphere `sphere`. Returns the pairs that are not
    /// candidates yet.
    fn near(&self, sphere: u32, start: &Start<'_>) -> Result<Vec<Candidate>, Error> {
        let (mut new, mut near) = (Vec::new(), NearLeaves::default());
        let mut result = Ok(());
        self.images_near(sphere, start)?.each(|image| {
            if result.is_ok() {
                result = self.near_image(sphere, image, start, &mut near, &mut new);
            }
        });
        for other in self.wide_near(sphere) {
            let ends = [sphere, other];
            let spheres = ends.map(|place| &self.padded[place as usize]);
            self.images_of_wide(ends, start)?.each(|image| {
                if result.is_ok() && overlap(spheres, image, start.lattice) {
                    result = self.add_new(ends, image, start, &mut new);
                }
            });
        }
        result.map(|()| new)
    }

    /// Adds a candidate to `new` if it is not in the lists of candidates yet.
    fn add_new(
        &self,
        ends: [u32; 2],
        image: [i32; 3],
        start: &Start<'_>,
        new: &mut Vec<Candidate>,
    ) -> Result<(), Error> {
        if can_meet(ends, start) {
            let found = pair(ends, image, start.ids);
            if !self.has(&found, start.ids) {
                push(new, found)?;
            }
        }
        Ok(())
    }

    /// Searches for all spheres that may touch the sphere number `sphere` after the periodic
    /// displacement `image` has been applied to them. Adds the pairs that are not candidates yet to
    /// the list `new`.
    fn near_image(
        &self,
        sphere: u32,
        image: [i32; 3],
        start: &Start<'_>,
        near: &mut NearLeaves,
        new: &mut Vec<Candidate>,
    ) -> Result<(), Error> {
        let own = self.padded[sphere as usize];
        let center = DVec3::from(own.center.map(f64::from)) - start.lattice.shift(image);
        let displaced = enlarged(center, own.radius.into(), start.lattice);
        self.boxes.near(&bounds_of(&[displaced]), near)?;
        self.boxes.find(near, &displaced)?;
        let fine = Fine {
            origins: &self.origins,
            pads: &self.pads,
            spheres: start.spheres,
        };
        let is_coarse = self.units.is_coarse() && image == [0; 3];
        let mut found = near.found().iter();
        found.try_for_each(|&other| {
            if is_coarse && !fine.overlap([sphere, other]) {
                return Ok(());
            }
            self.add_new([sphere, other], image, start, new)
        })
    }

    /// Returns the origin of a sphere.
    #[inline]
    pub(crate) fn origin(&self, sphere: u32) -> DVec3 {
        self.origins[sphere as usize]
    }

    fn has(&self, candidate: &Candidate, ids: &[u32]) -> bool {
        let [a, b] = candidate.ends();
        // A candidate in `special` is in the lists of both of its spheres. The list of a large
        // sphere may be long, so only the list of the smaller sphere is searched.
        let [wide_a, wide_b] = [a, b].map(|sphere| self.padded[sphere as usize].radius);
        let mut special = self.special.of(if wide_a <= wide_b { a } else { b });
        // Each sphere has a row of neighbours. Because of rounding, a pair that barely overlaps may
        // be in the row of only one of its spheres. Such a pair counts as missing.
        let rows = |ends: [u32; 2]| self.neighbors.of(ends[0]).contains(&ends[1]);
        special.any(|other| other == candidate)
            || (*candidate == pair([a, b], [0; 3], ids) && rows([a, b]) && rows([b, a]))
    }

    /// Returns all candidates. They are in the order of the smaller sphere index of each pair.
    pub(crate) fn list(&self, ids: &[u32]) -> Result<Vec<Candidate>, Error> {
        let mut list = Vec::new();
        for sphere in 0..narrow(self.origins.len()) {
            for near in self.of(sphere).filter(|near| near.other >= sphere) {
                push(&mut list, near.candidate(sphere, ids))?;
            }
        }
        Ok(list)
    }

    /// Returns the flights of all spheres, and their units.
    #[inline]
    pub(crate) fn flights(&self) -> (&[Flight], &FlightUnits) {
        (&self.flights, &self.units)
    }

    /// Impacts have changed the paths of the spheres in some islands, from the island number
    /// `first` on. Raises the bounds on the mean speeds of these spheres in the substep.
    pub(crate) fn raise_speeds(&mut self, first: usize, islands: &Islands, duration: f64) {
        for island in &islands.list()[first..] {
            for (member, track) in islands.tracks(island) {
                let speed = track.span / duration;
                self.flights[member.sphere as usize].raise_speed(speed, &self.units);
            }
        }
    }

    /// Returns the flights of all spheres, which the caller updates at the end of a substep, and their units.
    pub(crate) fn flights_mut(&mut self) -> (&mut [Flight], FlightUnits) {
        (&mut self.flights, self.units)
    }

    /// Returns the rows of neighbours.
    #[inline]
    pub(crate) fn neighbors(&self) -> &CandidateRows {
        &self.neighbors
    }

    /// Returns the candidates of a sphere that [`CandidateRows`] cannot hold.
    #[inline]
    pub(crate) fn special_of(&self, sphere: u32) -> impl Iterator<Item = Near<'_>> {
        self.special.of(sphere).map(move |candidate| Near {
            other: candidate.other_than(sphere),
            special: Some(candidate),
        })
    }

    /// Returns the number of pairs of spheres that the search has found.
    pub(crate) fn pairs(&self) -> usize {
        self.neighbors.pairs()
    }

    /// Returns the candidates of a sphere.
    #[inline]
    pub(crate) fn of(&self, sphere: u32) -> impl Iterator<Item = Near<'_>> {
        self.rest(sphere, self.neighbors.of(sphere))
    }

    /// Returns those candidates of a sphere in which its partner is a wall or a sphere of larger
    /// index.
    #[inline]
    pub(crate) fn of_larger(&self, sphere: u32) -> impl Iterator<Item = Near<'_>> {
        let rest = self.rest(sphere, self.neighbors.of_larger(sphere));
        rest.filter(move |near| near.other >= sphere)
    }

    /// Returns candidates of a sphere: its pairs with the spheres in `row`, which are all or some of its neighbours,
    /// and then those that [`CandidateRows`] cannot hold.
    #[inline]
    fn rest<'a>(&'a self, sphere: u32, row: &'a [u32]) -> impl Iterator<Item = Near<'a>> {
        let row = row.iter().filter(move |&&other| other != sphere);
        let row = row.map(|&other| Near {
            other,
            special: None,
        });
        row.chain(self.special_of(sphere))
    }

    #[inline]
    pub(crate) fn pad(&self, sphere: u32) -> f64 {
        self.pads[sphere as usize]
    }
}

/// Returns whether a sphere, whose centre is measured from `middle`, has a number that is out of range.
fn is_invalid(sphere: &Sphere, middle: DVec3) -> bool {
    let center = DVec3::from(sphere.center.map(f64::from)) + middle;
    let sphere = Sphere::new(center.as_vec3(), sphere.radius);
    invalid_field(&sphere, 0.0).is_some()
}

/// Returns an error if a sphere that is enlarged by its pad has a number that is out of range.
fn check_sphere(id: u32, sphere: &Sphere, middle: DVec3) -> Result<(), Error> {
    if !is_invalid(sphere, middle) {
        return Ok(());
    }
    Err(Error::InvalidHardSphere {
        index: id as usize,
        problem: format!(
            "one of its coordinates may exceed {MAX_MAGNITUDE:e} in magnitude; take shorter steps, give it a lower \
             speed, reduce gravity, or move it nearer to the origin"
        ),
    })
}

/// Returns an error for the first enlarged sphere with a number that is out of range.
fn check_all(spheres: &[Sphere], middle: DVec3, ids: &[u32]) -> Result<(), Error> {
    let all = spheres.par_iter().zip(ids);
    let bad = all.filter(|(sphere, _)| is_invalid(sphere, middle));
    match bad.min_by_key(|(_, id)| **id) {
        None => Ok(()),
        Some((sphere, &id)) => check_sphere(id, sphere, middle),
    }
}

/// Sums and bounds over spheres.
#[derive(Clone, Copy, Debug)]
struct Extent {
    /// Sum of the speeds of the spheres, and sum of their radii.
    speeds: f64,
    radii: f64,
    fastest: f64,
    largest: f64,
    /// Corners of the box around all centres.
    low: DVec3,
    high: DVec3,
    /// For each edge of a periodic domain, the largest distance of a centre outside the periodic
    /// cell, as a multiple of the edge.
    beyond: [f64; 3],
}

impl Extent {
    const NOTHING: Self = Self {
        speeds: 0.0,
        radii: 0.0,
        fastest: 0.0,
        largest: 0.0,
        low: DVec3::INFINITY,
        high: DVec3::NEG_INFINITY,
        beyond: [0.0; 3],
    };

    #[inline]
    fn include(&mut self, sphere: &HardSphere, lattice: &Lattice) {
        let speed = sphere.motion().length();
        self.speeds += speed;
        self.radii += sphere.radius;
        self.fastest = self.fastest.max(speed);
        self.largest = self.largest.max(sphere.radius);
        self.low = self.low.min(sphere.place());
        self.high = self.high.max(sphere.place());
        self.beyond = farther(self.beyond, lattice.beyond(sphere.place()));
    }

    fn join(self, other: &Self) -> Self {
        Self {
            speeds: self.speeds + other.speeds,
            radii: self.radii + other.radii,
            fastest: self.fastest.max(other.fastest),
            largest: self.largest.max(other.largest),
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            beyond: farther(self.beyond, other.beyond),
        }
    }

    /// Returns the units of length and time for the float32 tests of pairs, with a bound on the coordinates
    /// of all spheres with their pads. The unit of length is `unit`, the size of a typical sphere with its
    /// pad. No pad is larger than `pad`.
    fn units(&self, unit: f64, pad: f64, horizon: f64, lattice: &Lattice) -> FlightUnits {
        let half = 0.5 * (self.high - self.low).max(DVec3::ZERO);
        let center = if self.low.is_finite() {
            self.low + half
        } else {
            DVec3::ZERO
        };
        // Centres of spheres with pads are rounded to float32.
        let far = self.low.abs().max(self.high.abs()).max_element() + lattice.size();
        let most = half.max_element() + self.largest + pad + 1e-6 * far;
        let per_length = unit.recip();
        FlightUnits {
            time: horizon,
            per_length,
            center,
            most: next_up(most * per_length * (1.0 + 1e-6)),
        }
    }
}

/// Computes the pads of all spheres. Returns the units of length and time for the float32 tests of pairs.
/// Also returns how far centres lie outside the cell of a periodic domain: for each edge, the largest
/// distance as a multiple of the edge.
fn make_pads(
    pads: &mut Vec<f64>,
    start: &Start<'_>,
    horizon: f64,
) -> Result<(FlightUnits, [f64; 3]), Error> {
    let spheres = start.spheres;
    // Mean speed of a sphere that falls from rest for the time `horizon`.
    let falling = 0.5 * start.options.gravity.length() * horizon;
    let chunks = spheres.par_chunks(4096).map(|chunk| {
        let mut extent = Extent::NOTHING;
        for sphere in chunk {
            extent.include(sphere, start.lattice);
        }
        extent
    });
    // The sums of chunks are added in order, so the means do not depend on the number of threads.
    let chunks = collect_in_parallel(chunks, SUBSTEP)?;
    let extent = chunks.iter().fold(Extent::NOTHING, Extent::join);
    let slowest = SLOWEST * extent.speeds / start.present().max(1) as f64;
    let unit = PAD * horizon * slowest + extent.radii / spheres.len().max(1) as f64;
    let most = PAD * horizon * (extent.fastest.max(slowest) + falling);
    let pad = |sphere: &HardSphere| {
        let speed = sphere.motion().length();
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
    let units = extent.units(unit, most, horizon, start.lattice);
    Ok((units, extent.beyond))
}

fn farther(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|k| a[k].max(b[k]))
}

/// Returns true if no two spheres can ever meet, because there is only one sphere, all spheres have
/// infinite mass, or all belong to one body.
fn none_meet(start: &Start<'_>) -> bool {
    let (spheres, bodies) = (start.spheres, &start.options.bodies);
    let body = |place: usize| bodies.get(start.ids[place] as usize).copied().flatten();
    let present = || (0..spheres.len()).filter(|&place| !start.removed[place]);
    let Some(first) = present().find(|&place| !spheres[place].is_fixed()) else {
        return true;
    };
    let mut others = present().filter(|&place| place != first);
    others.all(|place| body(first).is_some() && body(place) == body(first))
}
