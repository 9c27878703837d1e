//! The output: pairs, when they touch, and what it took to find them.

use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Vec3};

use crate::exact::{Touch, first_touch};
use crate::{Backend, Sphere};

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
    /// Spheres in the world.
    pub spheres: u64,
    /// Entries in the grids: one for each sphere, and one more for each further
    /// time segment of a sphere that moves far.
    pub proxies: u64,
    /// Grids in use.
    pub levels: u32,
    /// Pairs of proxies that were tested.
    pub candidates: u64,
    /// Pairs that touch.
    pub pairs: u64,
    /// Pairs, touching or not, that were too close to tangency, or to the end of a
    /// time segment, for the float32 filter to tell, and so were decided with more
    /// digits.
    pub grazing: u64,
    /// How many of the grazing pairs float64 could not tell either, so that exact
    /// integers decided.
    pub grazing_by_integers: u64,
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
