//! The output: all collisions of a step, and what can be made of their list.

use crate::limits::MAX_SPHERES;
use crate::reduce::changes::{Changes, changes};
use crate::reduce::contacts::{Contacts, contacts};
use crate::reduce::earliest::{Earliest, earliest};
use crate::shared::sets::Sets;
use crate::{Collision, Statistics};

/// All collisions of a step.
#[derive(Clone, Debug, Default)]
pub struct Collisions {
    /// Every pair that touches, but for those that their groups leave out: once
    /// each, sorted by (a, b).
    pub pairs: Vec<Collision>,
    /// What it took to find them.
    pub statistics: Statistics,
}

impl Collisions {
    /// The first impact of each sphere, `None` for one that touches nothing. Of two
    /// sets, spheres of the second follow those of the first: sphere `i` of the
    /// second is at [`Statistics::first_set`] + `i`.
    ///
    /// ```
    /// use carom::{Detector, Options, Sphere};
    /// let spheres = [
    ///     Sphere::new([0.0; 3], 1.0).with_velocity([10.0, 0.0, 0.0]),
    ///     Sphere::new([5.0, 0.0, 0.0], 1.0),
    ///     Sphere::new([9.0, 0.0, 0.0], 1.0),
    ///     Sphere::new([0.0, 9.0, 0.0], 1.0),
    /// ];
    /// let found = Detector::new(Options::default())?.detect(&spheres, 1.0)?;
    /// let partners = found.earliest().into_iter().map(|first| Some(first?.partner));
    /// assert_eq!(partners.collect::<Vec<_>>(), [Some(1), Some(0), Some(0), None]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// As many as [`Statistics::spheres`] says. Pairs of spheres past that, which
    /// there are only in a list that was altered, are skipped.
    pub fn earliest(&self) -> Vec<Option<Earliest>> {
        let (spheres, sets) = self.spheres_and_sets();
        earliest(&self.pairs, spheres, sets)
    }

    /// The contacts of each sphere.
    ///
    /// ```
    /// use carom::{Detector, Options, Sphere};
    /// let row = [0.0, 2.0, 4.0, 9.0].map(|x| Sphere::new([x, 0.0, 0.0], 1.0));
    /// let found = Detector::new(Options::default())?.detect(&row, 1.0)?;
    /// let contacts = found.contacts();
    /// assert_eq!(contacts.of(1), [0, 1]);
    /// assert_eq!(found.pairs[contacts.of(1)[0] as usize].a, 0);
    /// assert_eq!(found.pairs[contacts.of(1)[1] as usize].b, 2);
    /// assert!(contacts.of(3).is_empty());
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// For as many spheres as [`Statistics::spheres`] says. Pairs of spheres past
    /// that, which there are only in a list that was altered, are skipped.
    pub fn contacts(&self) -> Contacts {
        let (spheres, sets) = self.spheres_and_sets();
        contacts(&self.pairs, spheres, sets)
    }

    /// Which pairs are new since an earlier step, which were there already, and
    /// which are gone. Pairs are told by their indices, so these have to mean the
    /// same spheres in both.
    ///
    /// ```
    /// use carom::{Detector, Options, Sphere};
    /// let mut detector = Detector::new(Options::default())?;
    /// let still = Sphere::new([0.0; 3], 1.0);
    /// let at = |x| Sphere::new([x, 0.0, 0.0], 1.0);
    /// let before = detector.detect(&[still, at(1.0), at(5.0)], 1.0)?;
    /// let now = detector.detect(&[still, at(3.0), at(4.0)], 1.0)?;
    /// let changes = now.changes_since(&before);
    /// assert_eq!((changes.began, changes.ended), (vec![[1, 2]], vec![[0, 1]]));
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// A list that was altered need not be in order, nor have each pair once.
    pub fn changes_since(&self, previous: &Self) -> Changes {
        changes(&previous.pairs, &self.pairs)
    }

    /// How many spheres there are, and in which sets: no more than can be, whatever
    /// somebody wrote there.
    fn spheres_and_sets(&self) -> (usize, Sets) {
        let [spheres, first] = [self.statistics.spheres, self.statistics.first_set].map(|count| {
            usize::try_from(count).map_or(MAX_SPHERES, |count| count.min(MAX_SPHERES))
        });
        let sets = match first {
            0 => Sets::One,
            first => Sets::Two { first },
        };
        (spheres, sets)
    }
}

impl<'a> IntoIterator for &'a Collisions {
    type Item = &'a Collision;
    type IntoIter = std::slice::Iter<'a, Collision>;
    fn into_iter(self) -> Self::IntoIter {
        self.pairs.iter()
    }
}
