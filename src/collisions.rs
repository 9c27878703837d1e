//! The output: all collisions of a step, and reductions of the list.

use rayon::prelude::*;

use crate::limits::MAX_SPHERES;
use crate::reduce::changes::{Changes, changes};
use crate::reduce::contacts::{Contacts, contacts};
use crate::reduce::earliest::{Earliest, earliest};
use crate::shared::sets::Sets;
use crate::{Collision, Error, Statistics};

/// All collisions of a step.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Collisions {
    /// Every pair that touches, except for the pairs that their groups leave out: each
    /// pair once, sorted by (a, b) until [`sort_by_time`](Self::sort_by_time).
    pub pairs: Vec<Collision>,
    /// The work that the step took.
    pub statistics: Statistics,
    sphere_count: usize,
    second_set_start: Option<usize>,
}

impl Default for Collisions {
    /// No pair, of no spheres.
    fn default() -> Self {
        Self::new(Vec::new(), 0, Sets::One, Statistics::default())
    }
}

impl Collisions {
    /// The collisions of a step.
    pub(crate) fn new(
        pairs: Vec<Collision>,
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
            statistics,
            sphere_count,
            second_set_start,
        }
    }

    /// A list from elsewhere, for the reductions below. `sphere_count` is the number of
    /// spheres, of both sets together if there are two, and `second_set_start` the number
    /// of spheres in the first of two sets. The list need not be in order. The statistics
    /// have the numbers of spheres and pairs, and nothing else.
    ///
    /// # Errors
    /// [`Error::TooManySpheres`] for more spheres than a step can have.
    ///
    /// ```
    /// use carom::{Collision, Collisions};
    /// let pairs = vec![Collision { a: 0, b: 2, toi: 0.5, depth: 0.0 }];
    /// let earliest = Collisions::from_pairs(pairs, 3, None)?.earliest();
    /// assert_eq!(earliest[2].map(|first| first.partner), Some(0));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn from_pairs(
        pairs: Vec<Collision>,
        sphere_count: usize,
        second_set_start: Option<usize>,
    ) -> Result<Self, Error> {
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
            statistics,
            sphere_count,
            second_set_start,
        })
    }

    /// Sorts the [`pairs`](Self::pairs) in place by time of impact, those of one time by
    /// (a, b): the order in which a game resolves them, when what an impact does decides
    /// whether later ones happen at all.
    ///
    /// ```
    /// use carom::{Detector, Options, Sphere, Step};
    /// // Two bullets in a row fly at two targets in a row, the nearer of which is target 1.
    /// let bullets = [0.0, 1.0].map(|x| Sphere::new([x, 0.0, 0.0], 0.0));
    /// let bullets = bullets.map(|bullet| bullet.with_velocity([20.0, 0.0, 0.0]));
    /// let targets = [9.0, 5.0].map(|x| Sphere::new([x, 0.0, 0.0], 1.0));
    /// let mut detector = Detector::new(Options::default())?;
    /// let mut found = detector.detect(&Step::between(&bullets, &targets, 1.0))?;
    /// assert_eq!(found.pairs.len(), 4); // as if nothing stopped a bullet
    ///
    /// found.sort_by_time();
    /// let (mut spent, mut down) = ([false; 2], [false; 2]);
    /// let mut hits = Vec::new();
    /// for pair in &found {
    ///     let (bullet, target) = (pair.a as usize, pair.b as usize);
    ///     // One that is gone by then hits nothing, and is not hit.
    ///     if !spent[bullet] && !down[target] {
    ///         (spent[bullet], down[target]) = (true, true);
    ///         hits.push((bullet, target));
    ///     }
    /// }
    /// assert_eq!(hits, [(1, 1), (0, 0)]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// The methods below take the pairs in any order. [`contacts`](Self::contacts) are
    /// indices into the list as it is when they are made.
    /// [`Detector::detect_into`](crate::Detector::detect_into) fills the list in order of
    /// (a, b) again.
    pub fn sort_by_time(&mut self) {
        // 0 may have a sign, in a list from elsewhere.
        let time = |pair: &Collision| pair.toi + 0.0;
        self.pairs.par_sort_unstable_by(|one, other| {
            let order = time(one).total_cmp(&time(other));
            order.then_with(|| (one.a, one.b).cmp(&(other.a, other.b)))
        });
    }

    /// Number of spheres in the step, of both sets together if there are two.
    pub fn sphere_count(&self) -> usize {
        self.sphere_count
    }

    /// Number of spheres in the first of two sets: where the second set begins in results
    /// that have one entry per sphere. `None` for a step of one set.
    pub fn second_set_start(&self) -> Option<usize> {
        self.second_set_start
    }

    /// The first impact of each sphere, `None` for a sphere that touches nothing. The
    /// result has [`sphere_count`](Self::sphere_count) entries; sphere `i` of the second
    /// of two sets is at [`second_set_start`](Self::second_set_start) + `i`.
    ///
    /// ```
    /// use carom::{Detector, Options, Sphere, Step};
    /// let spheres = [
    ///     Sphere::new([0.0; 3], 1.0).with_velocity([10.0, 0.0, 0.0]),
    ///     Sphere::new([5.0, 0.0, 0.0], 1.0),
    ///     Sphere::new([9.0, 0.0, 0.0], 1.0),
    ///     Sphere::new([0.0, 9.0, 0.0], 1.0),
    /// ];
    /// let found = Detector::new(Options::default())?.detect(&Step::new(&spheres, 1.0))?;
    /// let partners = found.earliest().into_iter().map(|first| Some(first?.partner));
    /// assert_eq!(partners.collect::<Vec<_>>(), [Some(1), Some(0), Some(0), None]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// Pairs with an index past the last sphere, which only an altered list has, are
    /// skipped.
    pub fn earliest(&self) -> Vec<Option<Earliest>> {
        let (spheres, sets) = (self.sphere_count, self.sets());
        earliest(&self.pairs, spheres, sets)
    }

    /// The contacts of each sphere.
    ///
    /// ```
    /// use carom::{Detector, Options, Sphere, Step};
    /// let row = [0.0, 2.0, 4.0, 9.0].map(|x| Sphere::new([x, 0.0, 0.0], 1.0));
    /// let found = Detector::new(Options::default())?.detect(&Step::new(&row, 1.0))?;
    /// let contacts = found.contacts();
    /// assert_eq!(contacts.of(1), [0, 1]);
    /// assert_eq!(found.pairs[contacts.of(1)[0] as usize].a, 0);
    /// assert_eq!(found.pairs[contacts.of(1)[1] as usize].b, 2);
    /// assert!(contacts.of(3).is_empty());
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// Pairs with an index past the last sphere, which only an altered list has, are
    /// skipped.
    pub fn contacts(&self) -> Contacts {
        let (spheres, sets) = (self.sphere_count, self.sets());
        contacts(&self.pairs, spheres, sets)
    }

    /// The pairs that are new since an earlier step, the pairs that were there already,
    /// and the pairs that are gone. Pairs are compared by their indices, so an index has
    /// to mean the same sphere in both steps.
    ///
    /// ```
    /// use carom::{Detector, Options, Sphere, Step};
    /// let mut detector = Detector::new(Options::default())?;
    /// let still = Sphere::new([0.0; 3], 1.0);
    /// let at = |x| Sphere::new([x, 0.0, 0.0], 1.0);
    /// let before = detector.detect(&Step::new(&[still, at(1.0), at(5.0)], 1.0))?;
    /// let now = detector.detect(&Step::new(&[still, at(3.0), at(4.0)], 1.0))?;
    /// let changes = now.changes_since(&before);
    /// assert_eq!((changes.began, changes.ended), (vec![[1, 2]], vec![[0, 1]]));
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// An altered list need not be in order, nor have each pair once.
    pub fn changes_since(&self, previous: &Self) -> Changes {
        changes(&previous.pairs, &self.pairs)
    }

    /// Whether the spheres are of one set or two.
    fn sets(&self) -> Sets {
        match self.second_set_start {
            None => Sets::One,
            Some(first) => Sets::Two { first },
        }
    }
}

impl<'a> IntoIterator for &'a Collisions {
    type Item = &'a Collision;
    type IntoIter = std::slice::Iter<'a, Collision>;
    fn into_iter(self) -> Self::IntoIter {
        self.pairs.iter()
    }
}
