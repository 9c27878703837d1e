//! Where and how two spheres meet.

use glam::{DVec3, Vec3};

use crate::exact::{Touch, first_touch};
use crate::{Collision, Sphere};

impl Collision {
    /// Where and how two spheres meet at their time of impact. `a` and `b` are
    /// the spheres with this collision's indices.
    ///
    /// ```
    /// use carom::{Detector, Options, Sphere, Step, glam::Vec3};
    /// let ball = Sphere::new([0.0; 3], 1.0).with_velocity([10.0, 0.0, 0.0]);
    /// let wall = Sphere::new([5.0, 0.0, 0.0], 1.0);
    /// let found = Detector::new(Options::default())?.detect(&Step::new(&[ball, wall], 1.0))?;
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
