//! Neighbour lists: the pairs of particles within a cutoff, and whether an earlier list is still
//! valid.

#![allow(
    clippy::cast_possible_truncation,
    reason = "there are at most 2³⁰ particles and 2³¹ pairs, and vectors are rounded to float32"
)]

mod skin;

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use glam::DVec3;
use rayon::prelude::*;

use self::skin::Deformation;
use crate::limits::CHUNK;
use crate::memory::{copied, reserve, resized};
use crate::number::sealed::{Numbers, PackedSphere, Split};
use crate::step::SphereSet;
use crate::wide::{self, Enclosed};
use crate::{Collision, Collisions, Domain, Error, Hits, Number, Spheres, Statistics};

/// Reading the positions of a batch together hides the latency of memory.
const MEASURED: usize = 64;

const NEIGHBORS: &str = "the list of neighbours";

/// A request for a neighbour list. It contains the particles, and the rule by which two particles are
/// neighbours.
///
/// The particles are the centres of spheres, and their velocities do not count. Pairs that collision
/// groups leave out ([`Sphere::with_groups`](crate::Sphere::with_groups)) are no neighbours.
///
/// Pass the request to [`Detector::find_neighbors`](crate::Detector::find_neighbors), which returns
/// the neighbour list.
///
/// The type parameter `S` is the type of the set of spheres, as in a [`Step`](crate::Step).
#[derive(Clone, Copy)]
pub struct NeighborSearch<'a, S = Spheres<'a>> {
    pub(crate) spheres: S,
    pub(crate) rule: Rule,
    pub(crate) skin: f64,
    pub(crate) full: bool,
    domain: Domain,
    lifetime: PhantomData<&'a ()>,
}

impl<S> fmt::Debug for NeighborSearch<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NeighborSearch")
            .field("rule", &self.rule)
            .field("skin", &self.skin)
            .field("full", &self.full)
            .field("domain", &self.domain)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub(crate) enum Rule {
    Cutoff(f64),
    Radii,
}

impl Default for Rule {
    fn default() -> Self {
        Self::Cutoff(0.0)
    }
}

impl<'a, T: Number> NeighborSearch<'a, Spheres<'a, T>> {
    /// Requests all pairs of particles whose distance is at most `cutoff`, in the unit of length of the
    /// spheres. Radii do not count.
    ///
    /// ```
    /// use carom::{Detector, Domain, NeighborSearch, Options, Sphere};
    /// let particles = [0.5, 4.0, 9.0].map(|x| Sphere::new([x, 0.0, 0.0], 0.0));
    /// let mut detector = Detector::new(Options::default())?;
    /// let domain = Domain::rectangular([0.0; 3], [10.0; 3]);
    /// let search = NeighborSearch::within(&particles, 2.0).in_domain(&domain);
    /// let list = detector.find_neighbors(&search)?;
    /// // Particle 2 is 1.5 to the left of particle 0, across the face x = 0.
    /// assert_eq!((list.pairs()[0], list.pairs().image(0)), ([0, 2], [-1, 0, 0]));
    /// assert_eq!((list.vectors()[0], list.distances()[0]), ([-1.5, 0.0, 0.0], 1.5));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn within(spheres: impl Into<Spheres<'a, T>>, cutoff: T) -> Self {
        Self::new(spheres.into(), Rule::Cutoff(cutoff.into()))
    }

    /// Requests all pairs of spheres that touch, whose distance is at most the sum of their radii.
    ///
    /// ```
    /// use carom::{Detector, NeighborSearch, Options, Sphere};
    /// let spheres = [(0.0, 3.0), (4.0, 1.0), (6.5, 1.0)].map(|(x, r)| Sphere::new([x, 0.0, 0.0], r));
    /// let mut detector = Detector::new(Options::default())?;
    /// let list = detector.find_neighbors(&NeighborSearch::touching(&spheres))?;
    /// assert_eq!((&list.pairs()[..], list.distances()), (&[[0, 1]][..], &[4.0][..]));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn touching(spheres: impl Into<Spheres<'a, T>>) -> Self {
        Self::new(spheres.into(), Rule::Radii)
    }
}

impl<S> NeighborSearch<'_, S> {
    pub(crate) fn new(spheres: S, rule: Rule) -> Self {
        Self {
            spheres,
            rule,
            skin: 0.0,
            full: false,
            domain: Domain::open(),
            lifetime: PhantomData,
        }
    }

    /// Returns the same request in a domain instead of open space.
    #[must_use]
    pub fn in_domain(mut self, domain: &Domain) -> Self {
        self.domain = *domain;
        self
    }

    /// Returns the same request, but for a full list: it has each pair of particles twice, once for
    /// each of them as the first particle. Without this call, the result is a half list, which has
    /// each pair once.
    #[must_use]
    pub fn full(mut self) -> Self {
        self.full = true;
        self
    }

    /// Returns the same request with a skin: a length by which the list reaches farther than the cutoff, or
    /// than the sum of two radii.
    ///
    /// While no particle has moved by more than half the skin, the list still has every pair of neighbours.
    /// See [`NeighborList::is_valid_for`].
    #[must_use]
    pub fn with_skin(mut self, skin: S::Number) -> Self
    where
        S: SphereSet,
    {
        self.skin = skin.into();
        self
    }

    pub(crate) fn domain(&self) -> &Domain {
        &self.domain
    }

    pub(crate) fn check_lengths<T: Numbers>(&self) -> Result<(), Error> {
        check_length::<T>("skin", self.skin)?;
        match self.rule {
            Rule::Cutoff(cutoff) => check_length::<T>("cutoff", cutoff),
            Rule::Radii => Ok(()),
        }
    }

    /// Returns the radius of the sphere that stands for a particle.
    pub(crate) fn reach<T: Numbers>(&self, own: T) -> T {
        // The skin is added to the cutoff, or half of it to each radius. The next larger
        // number is a margin for the rounding in `NeighborList::is_valid_for`.
        let skin = T::nearest(self.skin);
        let with_skin = |length: T, skin: T| {
            if skin > T::default() {
                T::padded(length, skin)
            } else {
                length
            }
        };
        match self.rule {
            Rule::Cutoff(cutoff) => with_skin(T::nearest(cutoff), skin).half(),
            // The search rejects an invalid radius.
            Rule::Radii if !(T::default()..=T::MAX).contains(&own) => own,
            Rule::Radii => with_skin(own, skin.half()),
        }
    }
}

impl<T: Number> NeighborSearch<'_, Spheres<'_, T>> {
    pub(crate) fn len(&self) -> usize {
        self.spheres.len()
    }

    /// Two spheres at rest in `searched` touch if and only if their particles are neighbours.
    pub(crate) fn searched(&self, searched: &mut Vec<T::Packed>) -> Result<(), Error> {
        self.check_lengths::<T>()?;
        self.spheres.check(None)?;
        let spheres = self.spheres.without_motion();
        let searched = resized(searched, spheres.len(), "the spheres of the search")?;
        let chunks = searched.par_chunks_mut(CHUNK).enumerate();
        chunks.for_each(|(chunk, searched)| {
            spheres.visit(chunk * CHUNK, searched.iter_mut(), |searched, given| {
                *searched =
                    T::Packed::at_rest(given.place(), self.reach(given.reach()), given.member_of());
            });
        });
        Ok(())
    }
}

fn check_length<T: Numbers>(what: &'static str, length: f64) -> Result<(), Error> {
    let (least, limit) = (T::MIN_CUTOFF.into(), T::MAX.into());
    if length == 0.0 || (least..=limit).contains(&length) {
        return Ok(());
    }
    Err(Error::InvalidCutoff {
        what,
        length,
        least,
        limit,
    })
}

/// `None` if it has moved too far.
type Wrapped = Option<[i32; 3]>;

/// A neighbour list: pairs of particles (i, j), sorted by i, then by j, then by image of j.
///
/// The list has a pair if the exact distance of its two particles, computed from their float32 or float64
/// coordinates without rounding, is at most the cutoff (or the sum of their radii). With a skin,
/// the list also has all pairs whose distance exceeds this length by at most the skin, and may have
/// a few that are farther apart by a rounding error.
/// [`Options::with_max_pairs`](crate::Options::with_max_pairs) limits the number of pairs of a half list. A
/// full list has each of them twice.
///
/// A half list has each pair of particles once, with i < j. In a periodic domain, a particle may be a
/// neighbour of its own images. In a half list, these pairs have i = j and an image whose first component
/// that is not 0 is positive.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(bound = "T: serde::Serialize"))]
pub struct NeighborList<T: Number = f32> {
    pub(crate) pairs: Hits<[u32; 2]>,
    vectors: Vec<[T; 3]>,
    pub(crate) distances: Vec<T>,
    statistics: Statistics,
    /// The index of each particle's first entry, and the number of all.
    rows: Vec<usize>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) searched: Vec<T::Packed>,
    /// By how many edges each particle has been wrapped since the list was made. Empty if none has been.
    #[cfg_attr(feature = "serde", serde(skip))]
    wrapped: Vec<[i32; 3]>,
    rule: Rule,
    skin: f64,
    full: bool,
    domain: Domain,
}

impl<T: Number> NeighborList<T> {
    /// Returns the indices i and j of the two particles of each entry.
    ///
    /// In a periodic domain, the image of an entry is the image of particle j that is the
    /// neighbour of particle i, as multiples of the domain's three edges.
    pub fn pairs(&self) -> &Hits<[u32; 2]> {
        &self.pairs
    }

    /// Returns, for each entry, the vector from particle i to the image of particle j, in float64 rounded to
    /// float32. In a list of float64, each component is the nearest float64, or one next to it.
    pub fn vectors(&self) -> &[[T; 3]] {
        &self.vectors
    }

    /// Returns, for each entry, the length of the vector from particle i to the image of particle j, in
    /// float64 rounded to float32. In a list of float64, it is at most two float64 from the exact length.
    pub fn distances(&self) -> &[T] {
        &self.distances
    }

    /// Returns the statistics of the search.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns whether the list has no entries.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns the entries with `i` as their first particle, as a range of indices into
    /// [`pairs`](Self::pairs) and the other lists. The range is empty for a particle that does not exist.
    ///
    /// In a full list, this range has the entries of all neighbours of particle `i`. In a half list, it has
    /// only the entries of neighbours with an index greater than `i`.
    ///
    /// ```
    /// use carom::{Detector, NeighborSearch, Options, Sphere};
    /// let particles = [0.0, 1.0, 2.0, 9.0].map(|x| Sphere::new([x, 0.0, 0.0], 0.0));
    /// let mut detector = Detector::new(Options::default())?;
    /// let list = detector.find_neighbors(&NeighborSearch::within(&particles, 1.5).full())?;
    /// let neighbors = list.row(1).map(|entry| list.pairs()[entry][1]);
    /// assert_eq!(neighbors.collect::<Vec<_>>(), [0, 2]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn row(&self, i: usize) -> Range<usize> {
        match self.rows.get(i..).unwrap_or_default() {
            [begin, end, ..] => *begin..*end,
            _ => 0..0,
        }
    }

    /// Returns whether this neighbour list has every pair that a new search would find. If so, the
    /// list can be used instead of the search.
    ///
    /// The list must have been made for a search with the same number of particles, radii (if they
    /// count), collision groups, cutoff, skin and kind (half or full), and for a domain that is periodic along
    /// the same edges. Also, no particle may have moved by more than half the skin since the list was made.
    ///
    /// Moves are relative to the periodic cell: wrapping a particle into the cell is no move, and neither is a
    /// change of the cell that carries all particles along, as a barostat or a shear does. If the cell has
    /// changed, particles may move less than half the skin. Let s be the largest factor by which any
    /// distance has shrunk together with the cell. Then a particle may move by up to (r + skin/2)/s − r, where
    /// r is half the cutoff or the radius of the particle. A shear strain of γ, for example, has s ≈ 1 + γ/2.
    ///
    /// The work runs on the rayon pool of the calling thread, or on rayon's global pool.
    pub fn is_valid_for(&self, search: &NeighborSearch<'_, Spheres<'_, T>>) -> bool {
        self.any_wrapped(search).is_some()
    }

    /// Returns `None` if the list is not valid wherever the particles are, otherwise a
    /// function of a particle then and now: by how many edges it has been wrapped, or
    /// `None` if it makes the list invalid.
    fn tracked<'a>(
        &self,
        search: &'a NeighborSearch<'_, Spheres<'_, T>>,
    ) -> Option<impl Fn(&T::Packed, &T::Packed) -> Wrapped + Sync + use<'a, T>> {
        let same = (self.rule, self.skin, self.full) == (search.rule, search.skin, search.full);
        if !same || self.searched.len() != search.spheres.len() {
            return None;
        }
        search.spheres.check(None).ok()?;
        search.domain.check::<T>().ok()?;
        let cell = Deformation::between(&self.domain, &search.domain, self.skin)?;
        Some(move |old: &T::Packed, new: &T::Packed| {
            let places = [old, new].map(|sphere| DVec3::from(sphere.place().map(Into::into)));
            let reach = match search.rule {
                Rule::Cutoff(cutoff) => cutoff / 2.0,
                Rule::Radii => new.reach().into(),
            };
            let same =
                (old.reach() == search.reach(new.reach())) & (old.member_of() == new.member_of());
            cell.wrapped(places, reach).filter(|_| same)
        })
    }

    /// Returns whether any particle has been wrapped, or `None` if the list is not valid.
    fn any_wrapped(&self, search: &NeighborSearch<'_, Spheres<'_, T>>) -> Option<bool> {
        let track = self.tracked(search)?;
        let spheres = search.spheres.without_motion();
        let any_wrapped = AtomicBool::new(false);
        let chunks = self.searched.par_chunks(CHUNK).enumerate();
        let is_valid = chunks.all(|(chunk, old)| {
            let (mut all, mut any) = (true, false);
            spheres.visit(chunk * CHUNK, old.iter(), |old, new| {
                let wrapped = track(old, new);
                all &= wrapped.is_some();
                any |= wrapped.is_some_and(|wrapped| wrapped != [0; 3]);
            });
            any_wrapped.fetch_or(any, Ordering::Relaxed);
            all
        });
        is_valid.then(|| any_wrapped.into_inner())
    }

    /// The list must be valid for the request.
    fn wrap(&mut self, search: &NeighborSearch<'_, Spheres<'_, T>>) -> Result<(), Error> {
        let Some(track) = self.tracked(search) else {
            return Ok(());
        };
        let spheres = search.spheres.without_motion();
        let mut now = Vec::new();
        resized(&mut now, self.searched.len(), NEIGHBORS)?;
        let chunks = now
            .par_chunks_mut(CHUNK)
            .zip(self.searched.par_chunks(CHUNK));
        chunks.enumerate().for_each(|(chunk, (now, old))| {
            spheres.visit(chunk * CHUNK, now.iter_mut().zip(old), |(now, old), new| {
                *now = track(old, new).unwrap_or_default();
            });
        });
        let before = &self.wrapped;
        let wrapped = |particle: u32| {
            let particle = particle as usize;
            let before = before.get(particle).copied().unwrap_or_default();
            [0, 1, 2].map(|k| now[particle][k] - before[k])
        };
        let Hits { items, images } = &mut self.pairs;
        items.par_iter().zip(images).for_each(|(pair, image)| {
            let [i, j] = pair.map(wrapped);
            *image = [0, 1, 2].map(|k| image[k] + i[k] - j[k]);
        });
        self.wrapped = now;
        Ok(())
    }

    /// If the list is still valid for a request ([`is_valid_for`](Self::is_valid_for)), computes the vectors
    /// and distances of its entries for the request's positions and domain, and returns true. Otherwise changes
    /// nothing and returns false. If particles have been wrapped, the images of their entries change.
    ///
    /// `update` adds no entry to the list and removes none. So the list keeps particles that have
    /// moved apart, and their distance may exceed the cutoff by up to twice the skin.
    ///
    /// ```
    /// use carom::{Detector, NeighborList, NeighborSearch, Options, Sphere};
    /// let mut detector = Detector::new(Options::default())?;
    /// let mut particles = [0.0, 2.25, 5.0].map(|x| Sphere::new([x, 0.0, 0.0], 0.0));
    /// let mut list = NeighborList::default();
    /// let mut searches = 0;
    /// for _ in 0..5 {
    ///     let search = NeighborSearch::within(&particles, 2.0).with_skin(0.5);
    ///     if !list.update(&search) {
    ///         detector.find_neighbors_into(&search, &mut list)?;
    ///         searches += 1;
    ///     }
    ///     // … use the entries whose distance is at most 2 …
    ///     particles[1].center[0] -= 0.125;
    /// }
    /// assert_eq!((searches, list.distances()[0]), (2, 1.75));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn update(&mut self, search: &NeighborSearch<'_, Spheres<'_, T>>) -> bool {
        let Some(any_wrapped) = self.any_wrapped(search) else {
            return false;
        };
        let is_wrapped = any_wrapped || !self.wrapped.is_empty();
        if is_wrapped && self.wrap(search).is_err() {
            return false;
        }
        match search.spheres.records() {
            Some(spheres) => self.for_each_chunk(&search.domain, |_, mut entries| {
                entries.measure(|index| Some(T::packed(spheres.get(index)?).place()));
            }),
            None => {
                let centers = search.spheres.centers();
                self.for_each_chunk(&search.domain, |_, mut entries| {
                    entries.measure(|index| centers.get(index))
                });
            }
        }
        true
    }

    pub(crate) fn begin(
        &mut self,
        search: &NeighborSearch<'_, Spheres<'_, T>>,
    ) -> Result<(), Error> {
        (self.rule, self.skin) = (search.rule, search.skin);
        (self.full, self.domain) = (search.full, search.domain);
        self.wrapped.clear();
        search.searched(&mut self.searched)
    }

    pub(crate) fn searched(&self) -> &[T::Packed] {
        &self.searched
    }

    pub(crate) fn fill(&mut self, found: &mut Collisions) -> Result<(), Error> {
        let searched = std::mem::take(&mut self.searched);
        self.fill_from(found, &searched)?;
        self.searched = searched;
        Ok(())
    }

    /// A half list takes the vector of images from `found`, and leaves its own to it.
    fn fill_from(&mut self, found: &mut Collisions, searched: &[T::Packed]) -> Result<(), Error> {
        self.statistics = found.statistics.clone();
        self.rows.clear();
        reserve(&mut self.rows, searched.len() + 1, NEIGHBORS)?;
        self.rows.resize(searched.len() + 1, 0);
        if self.full {
            self.fill_both_ways(&found.pairs, found.pairs.images())?;
        } else {
            resized(&mut self.pairs.items, found.pairs.len(), NEIGHBORS)?;
            std::mem::swap(&mut self.pairs.images, &mut found.pairs.images);
            count_rows(&mut self.rows, found.pairs.iter().map(|pair| pair.a));
        }
        let count = self.pairs.len();
        resized(&mut self.vectors, count, NEIGHBORS)?;
        resized(&mut self.distances, count, NEIGHBORS)?;
        let full = self.full;
        self.for_each_chunk(&{ self.domain }, |chunk, mut part| {
            if !full {
                let found = found.pairs.chunks(CHUNK).nth(chunk).unwrap_or_default();
                for (pair, found) in part.pairs.iter_mut().zip(found) {
                    *pair = [found.a, found.b];
                }
            }
            part.measure(|index| Some(searched.get(index)?.place()));
        });
        Ok(())
    }

    /// `work` gets the index and the entries of each chunk, in parallel.
    fn for_each_chunk(&mut self, domain: &Domain, work: impl Fn(usize, Entries<'_, T>) + Sync) {
        let Hits { items, images } = &mut self.pairs;
        let images = &*images;
        let vectors = self.vectors.par_chunks_mut(CHUNK);
        let measured = vectors.zip(self.distances.par_chunks_mut(CHUNK));
        let all = items.par_chunks_mut(CHUNK).zip(measured).enumerate();
        all.for_each(|(chunk, (pairs, (vectors, distances)))| {
            let entries = Entries {
                domain,
                pairs,
                images: images.chunks(CHUNK).nth(chunk).unwrap_or_default(),
                vectors,
                distances,
            };
            work(chunk, entries);
        });
    }

    fn fill_both_ways(
        &mut self,
        found: &[Collision],
        found_images: &[[i32; 3]],
    ) -> Result<(), Error> {
        let rows = &mut self.rows;
        for pair in found {
            rows[pair.a as usize] += 1;
            rows[pair.b as usize] += 1;
        }
        add_up(rows);
        let mut next = copied(rows, NEIGHBORS)?;
        let pairs = resized(&mut self.pairs.items, 2 * found.len(), NEIGHBORS)?;
        let images = resized(&mut self.pairs.images, 2 * found_images.len(), NEIGHBORS)?;
        let mut put = |[i, j]: [u32; 2], image: Option<[i32; 3]>| {
            let place = &mut next[i as usize];
            pairs[*place] = [i, j];
            if let Some(image) = image {
                images[*place] = image;
            }
            *place += 1;
        };
        // First the entries (b, a), with negated images, then (a, b): so the neighbours
        // of smaller index come first. Negation reverses the order of images, so pairs
        // of the same particles come from last to first.
        let of = |index: usize| found_images.get(index).copied();
        let mut begin = 0;
        for same in found.chunk_by(|one, other| (one.a, one.b) == (other.a, other.b)) {
            for (offset, pair) in same.iter().enumerate().rev() {
                let image = of(begin + offset);
                put([pair.b, pair.a], image.map(|image| image.map(|n| -n)));
            }
            begin += same.len();
        }
        for (index, pair) in found.iter().enumerate() {
            put([pair.a, pair.b], of(index));
        }
        Ok(())
    }
}

const NONE: u32 = u32::MAX;

impl NeighborList<f64> {
    pub(crate) fn fill_wide(
        &mut self,
        found: &mut Collisions,
        enclosed: &Enclosed<'_>,
    ) -> Result<(), Error> {
        enclosed.name_images(&mut found.pairs);
        let searched = enclosed.given[0];
        self.fill_from(found, searched)?;
        let same = match (self.rule, searched.first()) {
            (Rule::Cutoff(_), Some(any)) => Some(any.radius + any.radius),
            _ => None,
        };
        let all = enclosed.pairs();
        let images = &self.pairs.images;
        let chunks = self
            .pairs
            .items
            .par_chunks_mut(CHUNK)
            .zip(self.distances.par_chunks(CHUNK));
        let invented = chunks.enumerate().map(|(chunk, (pairs, distances))| {
            let mut invented = 0_usize;
            for (k, (pair, &distance)) in pairs.iter_mut().zip(distances).enumerate() {
                let reach = same.unwrap_or_else(|| {
                    let [i, j] = pair.map(|index| searched[index as usize].radius);
                    i + j
                });
                let margin = reach * (1.0 / (1_u64 << 44) as f64);
                if distance < reach - margin {
                    continue;
                }
                let image = images.get(chunk * CHUNK + k).copied();
                if distance > reach + margin || all.impact(&enclosed.pair(*pair, image)).is_none() {
                    *pair = [NONE; 2];
                    invented += 1;
                }
            }
            invented
        });
        if invented.sum::<usize>() > 0 {
            self.remove_marked();
        }
        self.statistics.pairs = (self.len() / if self.full { 2 } else { 1 }) as u64;
        Ok(())
    }

    fn remove_marked(&mut self) {
        let mut kept = 0;
        for k in 0..self.pairs.len() {
            if self.pairs.items[k][0] == NONE {
                continue;
            }
            self.pairs.items.swap(kept, k);
            self.vectors.swap(kept, k);
            self.distances.swap(kept, k);
            if !self.pairs.images.is_empty() {
                self.pairs.images.swap(kept, k);
            }
            kept += 1;
        }
        self.pairs.items.truncate(kept);
        self.pairs.images.truncate(kept);
        self.vectors.truncate(kept);
        self.distances.truncate(kept);
        self.rows.fill(0);
        count_rows(&mut self.rows, self.pairs.iter().map(|pair| pair[0]));
    }
}

struct Entries<'a, T> {
    domain: &'a Domain,
    pairs: &'a mut [[u32; 2]],
    images: &'a [[i32; 3]],
    vectors: &'a mut [[T; 3]],
    distances: &'a mut [T],
}

impl<T: Number> Entries<'_, T> {
    fn measure(&mut self, center: impl Fn(usize) -> Option<[T; 3]>) {
        let place = |index: u32| {
            let center = center(index as usize).unwrap_or_default();
            DVec3::from(center.map(Into::into))
        };
        let measured = self
            .vectors
            .chunks_mut(MEASURED)
            .zip(self.distances.chunks_mut(MEASURED));
        let mut images = self.images.chunks(MEASURED);
        for (pairs, (vectors, distances)) in self.pairs.chunks(MEASURED).zip(measured) {
            // So that the cache misses overlap.
            let mut away = [DVec3::ZERO; MEASURED];
            for (away, &[i, j]) in away.iter_mut().zip(pairs) {
                *away = place(j) - place(i);
            }
            let images = images.next().unwrap_or_default();
            for ((away, image), &[i, j]) in away.iter_mut().zip(images).zip(pairs) {
                if *image != [0; 3] {
                    let displaced = match T::split::<()>(()) {
                        Split::Float32(()) => displaced,
                        Split::Float64(()) => wide::displaced,
                    };
                    *away = displaced(self.domain, place(i), place(j), *image);
                }
            }
            for (away, (own, distance)) in away.iter().zip(vectors.iter_mut().zip(distances)) {
                *own = away.to_array().map(T::nearest);
                *distance = T::nearest(T::length(*away));
            }
        }
    }
}

/// Across a face of the cell, the sum nearly cancels. So it is corrected by the rounding errors
/// of its additions.
fn displaced(domain: &Domain, from: DVec3, to: DVec3, image: [i32; 3]) -> DVec3 {
    let [x, y, z] = [0, 1, 2].map(|k| domain.periodic_edge(k) * f64::from(image[k]));
    let (mut sum, mut errors) = (to, DVec3::ZERO);
    for term in [-from, x, y, z] {
        let next = sum + term;
        // Knuth's "TwoSum".
        let part = next - sum;
        errors += (sum - (next - part)) + (term - part);
        sum = next;
    }
    sum + errors
}

/// `rows` must be filled with 0, and gets the first entry of each particle, and the number of
/// all pairs.
fn count_rows(rows: &mut [usize], firsts: impl Iterator<Item = u32>) {
    // Each pair overwrites `rows[a + 1]`. Counting would be slower, because each increment
    // would wait for the previous one.
    for (before, first) in firsts.enumerate() {
        rows[first as usize + 1] = before + 1;
    }
    let mut end = 0;
    for row in rows {
        end = end.max(*row);
        *row = end;
    }
}

/// Replaces numbers by prefix sums.
fn add_up(rows: &mut [usize]) {
    let mut sum = 0;
    for row in rows {
        sum += std::mem::replace(row, sum);
    }
}
