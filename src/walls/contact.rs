//! The geometry of the contact of a sphere and a wall.

use glam::DVec3;

use super::Walls;
use super::vectors::vector;
use super::wall::Solid;
use crate::domain::Products;
use crate::exact::{Shift, Touch, Translation};
use crate::{Contact, Domain, Feature, HardSphere, Sphere, WallCollision, WallCollision64};

impl WallCollision {
    /// Returns the contact point, the normal and the approach speed at the time of impact.
    ///
    /// `sphere` and `walls` must be the sphere of this collision and the walls of its step. Returns `None` if
    /// the wall does not exist.
    ///
    /// ```
    /// use carom::{Detector, Feature, Options, Sphere, Step, Wall, Walls};
    /// let ball = [Sphere::new([0.0, 0.0, 3.0], 1.0).with_velocity([1.0, 0.0, -4.0])];
    /// let walls = Walls::from_iter([Wall::half_space([0.0, 0.0, 1.0], 0.0)]);
    /// let found = Detector::new(Options::default())?.detect(&Step::new(&ball, 1.0).with_walls(&walls))?;
    /// let contact = found.walls[0].contact(&ball[0], &walls).expect("wall 0 exists");
    /// assert_eq!((contact.point, contact.normal), ([0.5, 0.0, 0.0], [0.0, 0.0, -1.0]));
    /// assert_eq!((contact.approach_speed, contact.feature), (4.0, Feature::Face));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn contact(&self, sphere: &Sphere, walls: &Walls) -> Option<Contact> {
        self.contact_shifted(sphere, walls, ())
    }

    /// Returns the contact of image `image` of the sphere with the wall in a periodic domain,
    /// like [`contact`](Self::contact). The contact point is a point of this image. The wall is not displaced.
    pub fn contact_of_image(
        &self,
        sphere: &Sphere,
        walls: &Walls,
        domain: &Domain,
        image: [i32; 3],
    ) -> Option<Contact> {
        self.contact_shifted(sphere, walls, Translation::new(domain, image))
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "rounded to float32 on purpose"
    )]
    fn contact_shifted(
        &self,
        sphere: &Sphere,
        walls: &Walls,
        shift: impl Shift,
    ) -> Option<Contact> {
        let number = self.wall as usize;
        let (touch, feature) = match walls.simple().get(number) {
            Some(wall) => (wall.solid().touch(sphere, shift), Feature::Face),
            None => {
                let triangle = walls.triangle(number)?;
                let (touch, feature) = triangle.touch(sphere, shift, self.toi);
                (Some(touch), feature)
            }
        };
        let touch = touch.unwrap_or(Touch {
            time: self.toi.into(),
            normal: DVec3::X,
            approach: 0.0,
        });
        let by = shift.translation();
        let by = by.map_or(DVec3::ZERO, |translation| translation.vector());
        let center = vector(sphere.center) + by + vector(sphere.velocity) * touch.time;
        Some(Contact {
            point: (center + touch.normal * f64::from(sphere.radius))
                .as_vec3()
                .to_array(),
            normal: touch.normal.as_vec3().to_array(),
            approach_speed: touch.approach as f32,
            feature,
        })
    }
}

impl WallCollision64 {
    /// Returns the contact point, the normal and the approach speed at the time of impact, as [`WallCollision::contact`]
    /// does. Their errors are a few units in the last place of the largest coordinate or displacement, and for the normal this
    /// divided by the distance of the sphere's centre from the triangle, or from the axis or centre of a round wall.
    pub fn contact(&self, sphere: &HardSphere, walls: &Walls<f64>) -> Option<Contact<f64>> {
        self.contact_displaced(sphere, walls, &Products::default())
    }

    /// Returns the contact of image `image` of the sphere, as [`WallCollision::contact_of_image`] does.
    pub fn contact_of_image(
        &self,
        sphere: &HardSphere,
        walls: &Walls<f64>,
        domain: &Domain,
        image: [i32; 3],
    ) -> Option<Contact<f64>> {
        self.contact_displaced(sphere, walls, &domain.products(image))
    }

    fn contact_displaced(
        &self,
        sphere: &HardSphere,
        walls: &Walls<f64>,
        products: &Products,
    ) -> Option<Contact<f64>> {
        let numbers = (sphere.center, sphere.radius, sphere.velocity);
        let wall = walls.wide(self.wall as usize)?;
        let (normal, approach_speed, feature) = wall.touch(&numbers, products, self.toi);
        let by = products.map(|of| of.map(|(edge, n)| edge * f64::from(n)).iter().sum::<f64>());
        let center = DVec3::from(sphere.center) + DVec3::from(by);
        let center = center + DVec3::from(sphere.velocity) * self.toi;
        Some(Contact {
            point: (center + normal * sphere.radius).to_array(),
            normal: normal.to_array(),
            approach_speed,
            feature,
        })
    }
}

impl Solid {
    fn touch(&self, sphere: &Sphere, shift: impl Shift) -> Option<Touch> {
        match self {
            Self::HalfSpace(wall) => Some(wall.touch(sphere)),
            Self::Round(wall) => wall.touch(sphere, shift),
        }
    }
}
