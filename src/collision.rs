//! The output: pairs, when they touch, and what it took to find them.

use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Vec3};

use crate::detector::MOST_SPHERES;
use crate::exact::{Touch, first_touch};
use crate::{Backend, Sphere, cpu};

/// Two spheres that touch during the step, and when.
///
/// 16 bytes, laid out for a GPU storage buffer.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Collision {
    /// Index of one sphere: the smaller one, or for
    /// [`detect_between`](crate::Detector::detect_between) that in the first
    /// set.
    pub a: u32,
    /// Index of the other sphere: the larger one, or that in the second set.
    pub b: u32,
    /// Time of impact: the earliest time in [0, dt] at which they touch, in the
    /// unit of dt. 0 for spheres that touch or overlap at the start.
    pub toi: f32,
    /// How deep they overlap at the start of the step (the sum of the radii
    /// less the distance of the centres), in the unit of length. 0 for a pair
    /// that meets later.
    pub depth: f32,
}

impl Collision {
    /// Where and how two spheres meet at their time of impact. `a` and `b` are
    /// the spheres of this collision's indices.
    ///
    /// ```
    /// use carom::{Detector, Options, Sphere, glam::Vec3};
    /// let ball = Sphere::new([0.0; 3], 1.0).with_velocity([10.0, 0.0, 0.0]);
    /// let wall = Sphere::new([5.0, 0.0, 0.0], 1.0);
    /// let found = Detector::new(Options::default())?.detect(&[ball, wall], 1.0)?;
    /// let contact = found.pairs[0].contact(&ball, &wall);
    /// assert_eq!(contact.normal, Vec3::X);
    /// assert!((contact.point - Vec3::new(4.0, 0.0, 0.0)).length() < 1e-6);
    /// assert_eq!(contact.approach_speed, 10.0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rounded to float32 on purpose"
    )]
    pub fn contact(&self, a: &Sphere, b: &Sphere) -> Contact {
        let [center, velocity] = [a.center, a.velocity].map(|vector| Vec3::from(vector).as_dvec3());
        // Not from `self.toi`: a float32 may be so far off that a fast sphere is
        // already past.
        let Touch {
            time,
            normal,
            approach,
        } = first_touch(a, b).unwrap_or(Touch {
            time: self.toi.into(),
            normal: DVec3::X,
            approach: 0.0,
        });
        Contact {
            point: (center + velocity * time + normal * f64::from(a.radius)).as_vec3(),
            normal: normal.as_vec3(),
            approach_speed: approach as f32,
        }
    }
}

/// Where and how two spheres meet. See [`Collision::contact`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The point of sphere a's surface that faces b at the time of impact.
    pub point: Vec3,
    /// Unit vector from the centre of a to the centre of b at the time of
    /// impact. Centres that coincide have none: it is against the motion of b as
    /// a sees it for points that meet, and +x at the start of the step.
    pub normal: Vec3,
    /// How fast the centres approach along the normal, length per time:
    /// positive while closing, negative for an overlapping pair that parts.
    pub approach_speed: f32,
}

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
        let [spheres, split] = self.spheres_and_split();
        cpu::earliest::earliest(&self.pairs, spheres, split)
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
        let [spheres, split] = self.spheres_and_split();
        cpu::contacts::contacts(&self.pairs, spheres, split)
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
        cpu::changes::changes(&previous.pairs, &self.pairs)
    }

    /// How many spheres there are, and where the second set begins: no more than
    /// can be, whatever somebody wrote there.
    fn spheres_and_split(&self) -> [usize; 2] {
        [self.statistics.spheres, self.statistics.first_set].map(|count| {
            usize::try_from(count).map_or(MOST_SPHERES, |count| count.min(MOST_SPHERES))
        })
    }
}

/// The first impact of a sphere. See [`Collisions::earliest`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Earliest {
    /// When: [`Collision::toi`].
    pub toi: f32,
    /// Index of the sphere it touches then, of two sets in the other one; the
    /// smallest if there are several.
    pub partner: u32,
}

/// The contacts of each sphere, as indices into [`Collisions::pairs`]. See
/// [`Collisions::contacts`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contacts {
    pub(crate) offsets: Vec<usize>,
    pub(crate) indices: Vec<u32>,
}

impl Contacts {
    /// Those of one sphere: first where it is b, then where it is a, both in the
    /// order of the list; so that in a world of one set the others come in order.
    /// Sphere `i` of the second of two sets is at [`Statistics::first_set`] + `i`.
    /// None for a sphere that there is not.
    pub fn of(&self, sphere: usize) -> &[u32] {
        match self.offsets.get(sphere..).unwrap_or_default() {
            [begin, end, ..] => self.indices.get(*begin..*end).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// What changed from one step to another: indices a and b of pairs, sorted. See
/// [`Collisions::changes_since`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Pairs that were not there before.
    pub began: Vec<[u32; 2]>,
    /// Pairs that were.
    pub lasted: Vec<[u32; 2]>,
    /// Pairs that no longer touch.
    pub ended: Vec<[u32; 2]>,
}

impl<'a> IntoIterator for &'a Collisions {
    type Item = &'a Collision;
    type IntoIter = std::slice::Iter<'a, Collision>;
    fn into_iter(self) -> Self::IntoIter {
        self.pairs.iter()
    }
}

/// What it took to find the collisions of a step.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Spheres in the world, of both sets if there are two.
    pub spheres: u64,
    /// How many of them are of the first of two sets; 0 for one set.
    pub first_set: u64,
    /// Entries in the grids: one for each sphere, and one more for each further
    /// time segment of a sphere that moves far.
    pub proxies: u64,
    /// Grids in use.
    pub levels: u32,
    /// Slots of the grids' table: one for each cell within a grid's box, and some
    /// that the cells outside share.
    pub slots: u64,
    /// Pairs of proxies that were tested.
    pub candidates: u64,
    /// Pairs that touch.
    pub pairs: u64,
    /// Pairs, touching or not, that were too close to tangency, or to the end of a
    /// time segment, for the first test to tell, and so were decided with more digits:
    /// a GPU's test is in float32, and the CPU's in float64. Pairs of which just the
    /// time takes more digits do not count.
    pub grazing: u64,
    /// How many of the grazing pairs float64 could not tell either, so that exact
    /// integers decided.
    pub grazing_by_integers: u64,
    /// Bytes of working memory that are kept for the next step, beyond the spheres
    /// given, a copy of two sets in one, and the list returned. On a GPU, of the buffers
    /// of the stages.
    pub memory: u64,
    /// Where the work was done: [`Backend::Gpu`] or [`Backend::Cpu`].
    pub backend: Backend,
    /// Why there, in a sentence.
    pub reason: String,
    /// The GPU's name as its driver gives it; `None` on the CPU.
    pub adapter: Option<String>,
    /// Time of each stage, in the order in which they ran. Empty for the stages
    /// of a GPU that cannot tell.
    pub stages: Vec<(&'static str, Duration)>,
}
