//! The result of a time step: the list of collisions, and further results computed from this list.

use rayon::prelude::*;

use crate::Touching as _;
use crate::hits::sort_both;
use crate::limits::MAX_SPHERES;
use crate::reduce::changes::{Changes, changes};
use crate::reduce::contacts::{Contacts, contacts};
use crate::reduce::earliest::{Earliest, earliest, with_walls};
use crate::shared::sets::Sets;
use crate::threads;
use crate::{Error, Hits, Number, Statistics};

/// All collisions of a time step, with statistics. Returned by [`Detector::detect`](crate::Detector::detect).
///
/// Methods of this type compute each sphere's earliest impact, each sphere's contacts, and which pairs have begun or
/// stopped touching since an earlier step.
///
/// The numbers `T` are those of the step: float32 or float64 ([`Number`]).
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(
    feature = "serde",
    serde(bound = "T::Collision: serde::Serialize, T::WallCollision: serde::Serialize")
)]
pub struct Collisions<T: Number = f32> {
    /// All pairs of spheres that touch during the step, each listed once, without pairs that
    /// collision groups leave out. They are sorted by sphere indices (a, b), or by time after
    /// [`sort_by_time`](Self::sort_by_time).
    ///
    /// In a periodic domain ([`Domain`](crate::Domain)), the image of a pair is the image of
    /// sphere b that sphere a touches. A pair of spheres is listed once for each image that touches, sorted by
    /// the image. If a sphere touches an image of itself, a equals b, and the first component of the image
    /// that is not 0 is positive.
    ///
    /// The list may be filtered with [`Hits::retain`]. The methods of this type then use what is left, and
    /// [`statistics`](Self::statistics) stays that of the step.
    pub pairs: Hits<T::Collision>,
    /// All spheres that touch walls ([`Step::with_walls`](crate::Step::with_walls)) during the
    /// step. A sphere is listed once for each wall that it touches, unless collision groups leave
    /// this out. Sorted by sphere and by wall. Empty for a step without walls.
    ///
    /// In a periodic domain, the image of an entry is the image of the sphere that touches the
    /// wall. A sphere is listed once for each of its images that touches the wall, sorted by the image. Some
    /// walls, such as a floor, do not change if they are displaced along an edge of the domain. For such a
    /// wall, the component of the image along this edge is 0.
    pub walls: Hits<T::WallCollision>,
    /// Statistics of the time step, such as the number of tested pairs.
    pub statistics: Statistics,
    sphere_count: usize,
    second_set_start: Option<usize>,
}

impl<T: Number> Default for Collisions<T> {
    fn default() -> Self {
        Self::new(Hits::default(), 0, Sets::One, Statistics::default())
    }
}

impl<T: Number> Collisions<T> {
    pub(crate) fn new(
        pairs: Hits<T::Collision>,
        sphere_count: usize,
        sets: Sets,
        statistics: Statistics,
    ) -> Self {
        let second_set_start = match sets {
            Sets::One => None,
            Sets::Two { first } => Some(first),
        };
        Self {
            pairs,
            walls: Hits::default(),
            statistics,
            sphere_count,
            second_set_start,
        }
    }

    /// Creates a list of collisions from pairs that another program found, in any order.
    ///
    /// `sphere_count` is the number of spheres, of both sets together if there are two. `second_set_start` is
    /// the number of spheres in the first of two sets, or `None` for one set. The statistics contain only the
    /// numbers of spheres and pairs.
    ///
    /// # Errors
    /// Returns [`Error::TooManySpheres`] for more than 2³⁰ spheres.
    ///
    /// ```
    /// use carom::{Collision, Collisions, Partner};
    /// let pairs = vec![Collision { a: 0, b: 2, toi: 0.5, depth: 0.0 }];
    /// let found: Collisions = Collisions::from_pairs(pairs, 3, None)?;
    /// let earliest = found.earliest()?;
    /// assert_eq!(earliest[2].map(|first| first.partner), Some(Partner::Sphere(0)));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn from_pairs(
        pairs: impl Into<Hits<T::Collision>>,
        sphere_count: usize,
        second_set_start: Option<usize>,
    ) -> Result<Self, Error> {
        let pairs = pairs.into();
        for count in [sphere_count, second_set_start.unwrap_or(0)] {
            if count > MAX_SPHERES {
                return Err(Error::TooManySpheres {
                    count,
                    limit: MAX_SPHERES,
                });
            }
        }
        let statistics = Statistics {
            spheres: sphere_count as u64,
            pairs: pairs.len() as u64,
            ..Statistics::default()
        };
        Ok(Self {
            pairs,
            walls: Hits::default(),
            statistics,
            sphere_count,
            second_set_start,
        })
    }

    /// Sorts the [`pairs`](Self::pairs) by time of impact, together with their images.
    /// Pairs with equal times are sorted by (a, b) and by image. The list of [`walls`](Self::walls) does not
    /// change.
    ///
    /// A simulation needs the pairs in the order of time if an impact changes whether later impacts
    /// happen. In this example, a bullet is gone after its first hit:
    ///
    /// ```
    /// use carom::{Detector, Options, Sphere, Step};
    /// // Two bullets fly along x towards two targets. Target 1 is the nearer one.
    /// let bullets = [0.0, 1.0].map(|x| Sphere::new([x, 0.0, 0.0], 0.0));
    /// let bullets = bullets.map(|bullet| bullet.with_velocity([20.0, 0.0, 0.0]));
    /// let targets = [9.0, 5.0].map(|x| Sphere::new([x, 0.0, 0.0], 1.0));
    /// let mut detector = Detector::new(Options::default())?;
    /// let mut found = detector.detect(&Step::between(&bullets, &targets, 1.0))?;
    /// assert_eq!(found.pairs.len(), 4); // every bullet passes through both targets
    ///
    /// found.sort_by_time();
    /// let (mut spent, mut down) = ([false; 2], [false; 2]);
    /// let mut hits = Vec::new();
    /// for pair in &found {
    ///     let (bullet, target) = (pair.a as usize, pair.b as usize);
    ///     // A bullet that has hit a target is gone, and so is the target.
    ///     if !spent[bullet] && !down[target] {
    ///         (spent[bullet], down[target]) = (true, true);
    ///         hits.push((bullet, target));
    ///     }
    /// }
    /// assert_eq!(hits, [(1, 1), (0, 0)]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// [`contacts`](Self::contacts) returns indices into the list of pairs, so call `contacts` after
    /// `sort_by_time`. [`Detector::detect_into`](crate::Detector::detect_into) refills the list sorted by (a,
    /// b).
    pub fn sort_by_time(&mut self) {
        // Adding 0.0 turns a time of −0.0, which another program may have found, into 0.0.
        // Otherwise, `total_cmp` would order −0.0 before 0.0.
        let time = |pair: &T::Collision| pair.toi().into() + 0.0;
        let before = |one: &T::Collision, other: &T::Collision| {
            let order = time(one).total_cmp(&time(other));
            order.then_with(|| one.sides().cmp(&other.sides()))
        };
        let Hits { items, images } = &mut self.pairs;
        if images.is_empty() {
            match threads::ready() {
                Ok(()) => items.par_sort_unstable_by(before),
                Err(_) => items.sort_unstable_by(before),
            }
            return;
        }
        sort_both(items, images, |(one, image), (other, other_image)| {
            before(one, other).then_with(|| image.cmp(other_image))
        });
    }

    /// Returns the number of spheres in the step, of both sets together if there are two.
    pub fn sphere_count(&self) -> usize {
        self.sphere_count
    }

    /// Returns the number of spheres in the first of two sets, or `None` for a step of one set.
    ///
    /// In results with one entry per sphere, the entries of the second set begin at this index.
    pub fn second_set_start(&self) -> Option<usize> {
        self.second_set_start
    }

    /// Returns the earliest impact of each sphere with another sphere or with a wall, or `None` for a sphere
    /// that touches neither.
    ///
    /// The result has [`sphere_count`](Self::sphere_count) entries. Sphere `i` of the second of two sets has
    /// index [`second_set_start`](Self::second_set_start) + `i`.
    ///
    /// ```
    /// use carom::{Detector, Options, Partner, Sphere, Step};
    /// let spheres = [
    ///     Sphere::new([0.0; 3], 1.0).with_velocity([10.0, 0.0, 0.0]),
    ///     Sphere::new([5.0, 0.0, 0.0], 1.0),
    ///     Sphere::new([9.0, 0.0, 0.0], 1.0),
    ///     Sphere::new([0.0, 9.0, 0.0], 1.0),
    /// ];
    /// let found = Detector::new(Options::default())?.detect(&Step::new(&spheres, 1.0))?;
    /// let partners = found.earliest()?.into_iter().map(|first| Some(first?.partner));
    /// let [moving, hit] = [0, 1].map(|sphere| Some(Partner::Sphere(sphere)));
    /// assert_eq!(partners.collect::<Vec<_>>(), [hit, moving, moving, None]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// [`Earliest::partner`] tells whether the first impact of a sphere is with a wall. If a sphere hits another
    /// sphere and a wall at the same time, and nothing earlier, the result has the other sphere.
    ///
    /// Pairs and wall collisions with an index past the last sphere are skipped.
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`] if the memory does not suffice.
    pub fn earliest(&self) -> Result<Vec<Option<Earliest<T>>>, Error> {
        let (spheres, sets) = (self.sphere_count, self.sets());
        let mut earliest = earliest::<T>(&self.pairs, self.pairs.images(), spheres, sets)?;
        with_walls::<T>(&mut earliest, &self.walls, self.walls.images());
        Ok(earliest)
    }

    /// Returns the contacts of each sphere with other spheres, as indices into [`pairs`](Self::pairs).
    ///
    /// ```
    /// use carom::{Detector, Options, Sphere, Step};
    /// let row = [0.0, 2.0, 4.0, 9.0].map(|x| Sphere::new([x, 0.0, 0.0], 1.0));
    /// let found = Detector::new(Options::default())?.detect(&Step::new(&row, 1.0))?;
    /// let contacts = found.contacts()?;
    /// assert_eq!(contacts.of(1), [0, 1]);
    /// assert_eq!(found.pairs[contacts.of(1)[0] as usize].a, 0);
    /// assert_eq!(found.pairs[contacts.of(1)[1] as usize].b, 2);
    /// assert!(contacts.of(3).is_empty());
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// In a periodic domain, a sphere that touches an image of itself has two contacts from this pair, on
    /// opposite sides.
    ///
    /// Pairs with an index past the last sphere are skipped.
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`] if the memory does not suffice.
    pub fn contacts(&self) -> Result<Contacts, Error> {
        let (spheres, sets) = (self.sphere_count, self.sets());
        contacts::<T>(&self.pairs, spheres, sets)
    }

    /// Compares this list with `previous`, the list of an earlier step. Returns the pairs, and the contacts with walls,
    /// that began to touch, still touch or touch no longer.
    ///
    /// A pair in this list and a pair in `previous` are the same if they have the same sphere
    /// indices, and in a periodic domain also the same image. So a sphere must have the same index
    /// in both steps.
    ///
    /// ```
    /// use carom::{Detector, Options, Sphere, Step};
    /// let mut detector = Detector::new(Options::default())?;
    /// let still = Sphere::new([0.0; 3], 1.0);
    /// let at = |x| Sphere::new([x, 0.0, 0.0], 1.0);
    /// let before = detector.detect(&Step::new(&[still, at(1.0), at(5.0)], 1.0))?;
    /// let now = detector.detect(&Step::new(&[still, at(3.0), at(4.0)], 1.0))?;
    /// let changes = now.changes_since(&before)?;
    /// assert_eq!((&changes.began[..], &changes.ended[..]), (&[[1, 2]][..], &[[0, 1]][..]));
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// This list and `previous` may have their pairs in any order, and may contain a pair several
    /// times.
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`] or [`Error::Threads`] if the system lacks memory or threads.
    pub fn changes_since(&self, previous: &Self) -> Result<Changes, Error> {
        threads::ready()?;
        let [began, lasted, ended] = changes::<T, _>(
            (&previous.pairs, previous.pairs.images()),
            (&self.pairs, self.pairs.images()),
        )?;
        let [walls_began, walls_lasted, walls_ended] = changes::<T, _>(
            (&previous.walls, previous.walls.images()),
            (&self.walls, self.walls.images()),
        )?;
        Ok(Changes {
            began,
            lasted,
            ended,
            walls_began,
            walls_lasted,
            walls_ended,
        })
    }

    fn sets(&self) -> Sets {
        match self.second_set_start {
            None => Sets::One,
            Some(first) => Sets::Two { first },
        }
    }
}

impl<'a, T: Number> IntoIterator for &'a Collisions<T> {
    type Item = &'a T::Collision;
    type IntoIter = std::slice::Iter<'a, T::Collision>;
    fn into_iter(self) -> Self::IntoIter {
        self.pairs.iter()
    }
}
