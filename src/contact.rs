//! Geometry of a contact: contact point, normal, approach speed, and the part of a wall that is touched.

use glam::{DVec3, Vec3};

use crate::domain::Products;
use crate::exact::integers::PairIntegers;
use crate::exact::{Shift, Touch, Translation, first_touch};
use crate::{Collision, Collision64, Domain, HardSphere, Sphere};

impl Collision {
    /// Returns the contact point, the normal and the approach speed at the time of impact.
    ///
    /// `a` and `b` must be the two spheres of this collision. In a periodic domain, use
    /// [`contact_of_image`](Self::contact_of_image). If the spheres never touch, the normal is +x and the approach
    /// speed is 0.
    ///
    /// ```
    /// use carom::{Detector, Options, Sphere, Step};
    /// let ball = Sphere::new([0.0; 3], 1.0).with_velocity([10.0, 0.0, 0.0]);
    /// let wall = Sphere::new([5.0, 0.0, 0.0], 1.0);
    /// let found = Detector::new(Options::default())?.detect(&Step::new(&[ball, wall], 1.0))?;
    /// let contact = found.pairs[0].contact(&ball, &wall);
    /// assert_eq!(contact.normal, [1.0, 0.0, 0.0]);
    /// assert!((contact.point[0] - 4.0).abs() < 1e-6 && contact.point[1..] == [0.0; 2]);
    /// assert_eq!(contact.approach_speed, 10.0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn contact(&self, a: &Sphere, b: &Sphere) -> Contact {
        self.contact_shifted(a, b, ())
    }

    /// Returns the contact of sphere `a` with image `image` of sphere `b` in a periodic
    /// domain, like [`contact`](Self::contact). Sphere `a` is not displaced.
    ///
    /// ```
    /// use carom::{Detector, Domain, Options, Sphere, Step};
    /// let domain = Domain::rectangular([0.0; 3], [10.0; 3]);
    /// let spheres = [[0.5, 5.0, 5.0], [9.0, 5.0, 5.0]].map(|center| Sphere::new(center, 1.0));
    /// let step = Step::new(&spheres, 1.0).in_domain(&domain);
    /// let found = Detector::new(Options::default())?.detect(&step)?;
    /// let (pair, image) = (found.pairs[0], found.pairs.image(0));
    /// let contact = pair.contact_of_image(&spheres[0], &spheres[1], &domain, image);
    /// assert_eq!(contact.normal, [-1.0, 0.0, 0.0]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn contact_of_image(
        &self,
        a: &Sphere,
        b: &Sphere,
        domain: &Domain,
        image: [i32; 3],
    ) -> Contact {
        self.contact_shifted(a, b, Translation::new(domain, image))
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "rounded to float32 on purpose"
    )]
    fn contact_shifted(&self, a: &Sphere, b: &Sphere, shift: impl Shift) -> Contact {
        let [center, velocity] = [a.center, a.velocity].map(|vector| Vec3::from(vector).as_dvec3());
        // The float32 time of impact is rounded, and a fast sphere may have passed the
        // other by then.
        let Touch {
            time,
            normal,
            approach,
        } = first_touch(a, b, shift).unwrap_or(Touch {
            time: self.toi.into(),
            normal: DVec3::X,
            approach: 0.0,
        });
        Contact {
            point: (center + velocity * time + normal * f64::from(a.radius))
                .as_vec3()
                .to_array(),
            normal: normal.as_vec3().to_array(),
            approach_speed: approach as f32,
            feature: Feature::Face,
        }
    }
}

impl Collision64 {
    /// Returns the contact point, the normal and the approach speed at the time of impact, as [`Collision::contact`] does.
    ///
    /// The errors of the normal, and of the speed relative to it, are about 10⁻¹⁵. That of the point is a few units in the
    /// last place of the largest coordinate or displacement of `a`. The masses do not count.
    ///
    /// ```
    /// use carom::{Detector, HardSphere, Options, Step};
    /// let ball = HardSphere::new([4_582_300.0, 0.0, 0.0], 0.25).with_velocity([10.0, 0.0, 0.0]);
    /// let wall = HardSphere::new([4_582_305.0, 0.0, 0.0], 0.25);
    /// let found = Detector::new(Options::default())?.detect(&Step::new(&[ball, wall], 1.0))?;
    /// let contact = found.pairs[0].contact(&ball, &wall);
    /// assert_eq!((contact.point, contact.normal), ([4_582_304.75, 0.0, 0.0], [1.0, 0.0, 0.0]));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn contact(&self, a: &HardSphere, b: &HardSphere) -> Contact<f64> {
        self.contact_displaced(a, b, &Products::default())
    }

    /// Returns the contact of sphere `a` with image `image` of sphere `b`, as [`Collision::contact_of_image`] does.
    pub fn contact_of_image(
        &self,
        a: &HardSphere,
        b: &HardSphere,
        domain: &Domain,
        image: [i32; 3],
    ) -> Contact<f64> {
        self.contact_displaced(a, b, &domain.products(image))
    }

    fn contact_displaced(
        &self,
        a: &HardSphere,
        b: &HardSphere,
        products: &Products,
    ) -> Contact<f64> {
        let spheres = [a, b].map(|sphere| (sphere.center, sphere.radius, sphere.velocity));
        let contact = PairIntegers::of(&spheres, products).contact();
        let (normal, approach_speed) = contact.unwrap_or((DVec3::X, 0.0));
        let center = DVec3::from(a.center) + DVec3::from(a.velocity) * self.toi;
        Contact {
            point: (center + normal * a.radius).to_array(),
            normal: normal.to_array(),
            approach_speed,
            feature: Feature::Face,
        }
    }
}

/// Geometry of the contact of two spheres, or of a sphere with a wall, at the time of impact. Returned by
/// [`Collision::contact`] and [`WallCollision::contact`](crate::WallCollision::contact).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Contact<T = f32> {
    /// The point of the surface of sphere a, or of the sphere that touches the wall, that lies in the direction
    /// of `normal` from its centre, at the time of impact.
    pub point: [T; 3],
    /// Unit vector from the centre of sphere a to the centre of sphere b, or from the centre of the sphere into
    /// the wall, at the time of impact.
    ///
    /// If the centres of two spheres coincide at the start of the step, the normal is +x. If two points (spheres
    /// of radius 0) meet later, the normal is opposite to the velocity of b relative to a. If the centre of the
    /// sphere lies on the axis or in the centre of a round wall, or on a triangle, the normal is one of several
    /// possible directions.
    pub normal: [T; 3],
    /// Speed of approach of the two centres, or of sphere and wall, along the normal, as length per time.
    /// Negative for overlapping spheres that move apart, and for a sphere that leaves a wall.
    pub approach_speed: T,
    /// The part of the wall that is touched. Two spheres touch with [`Feature::Face`].
    pub feature: Feature,
}

/// The part of a wall that a sphere touches. See [`Contact::feature`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Feature {
    /// The surface of a wall of a simple shape or of a sphere, or the face of a triangle.
    Face,
    /// An edge of a triangle. Edge 0 joins the corners 0 and 1, edge 1 the corners 1 and 2, and edge 2 the
    /// corners 2 and 0.
    Edge(u8),
    /// A corner of a triangle, in the order of the mesh's list of vertices.
    Corner(u8),
}
