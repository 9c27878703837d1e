//! The numbers of a step, float32 or float64, and what this module does differently for the two.

use bytemuck::Pod;
use carom::{
    Collision, Collision64, Contact, Domain, HardSphere, Sphere, WallCollision, WallCollision64,
};
use numpy::Element;

/// Centre, radius and velocity of a sphere.
pub(crate) type Ball<T> = ([T; 3], T, [T; 3]);

pub(crate) trait Scalar: carom::Number + Element + Pod {
    fn rounded(x: f64) -> Self;
    fn depth(hit: &Self::Collision) -> Self;
    fn wall_depth(hit: &Self::WallCollision) -> Self;
    fn collision(sides: [u32; 2], toi: Self, depth: Self) -> Self::Collision;
    fn wall_collision(sides: [u32; 2], toi: Self, depth: Self) -> Self::WallCollision;
    /// Returns the contact of a sphere with an image of another one.
    fn contact(
        hit: &Self::Collision,
        spheres: [Ball<Self>; 2],
        domain: &Domain,
        image: [i32; 3],
    ) -> Contact<Self>;
    /// Returns the contact of an image of a sphere with a wall.
    fn wall_contact(
        hit: &Self::WallCollision,
        sphere: Ball<Self>,
        walls: &carom::Walls<Self>,
        domain: &Domain,
        image: [i32; 3],
    ) -> Option<Contact<Self>>;
    /// Returns the domain whose numbers are of this type.
    fn domain(domain: &Domain) -> Domain;
}

fn sphere((center, radius, velocity): Ball<f32>) -> Sphere {
    Sphere::new(center, radius).with_velocity(velocity)
}

fn hard_sphere((center, radius, velocity): Ball<f64>) -> HardSphere {
    HardSphere::new(center, radius).with_velocity(velocity)
}

impl Scalar for f32 {
    #[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
    fn rounded(x: f64) -> Self {
        x as Self
    }

    fn depth(hit: &Collision) -> Self {
        hit.depth
    }

    fn wall_depth(hit: &WallCollision) -> Self {
        hit.depth
    }

    fn collision([a, b]: [u32; 2], toi: Self, depth: Self) -> Collision {
        Collision { a, b, toi, depth }
    }

    fn wall_collision([sphere, wall]: [u32; 2], toi: Self, depth: Self) -> WallCollision {
        WallCollision {
            sphere,
            wall,
            toi,
            depth,
        }
    }

    fn contact(
        hit: &Collision,
        spheres: [Ball<Self>; 2],
        domain: &Domain,
        image: [i32; 3],
    ) -> Contact {
        let [a, b] = spheres.map(sphere);
        hit.contact_of_image(&a, &b, domain, image)
    }

    fn wall_contact(
        hit: &WallCollision,
        of: Ball<Self>,
        walls: &carom::Walls,
        domain: &Domain,
        image: [i32; 3],
    ) -> Option<Contact> {
        hit.contact_of_image(&sphere(of), walls, domain, image)
    }

    fn domain(domain: &Domain) -> Domain {
        let edges = domain.edges().map(|edge| edge.map(Self::rounded));
        Domain::triclinic(domain.origin().map(Self::rounded), edges)
            .with_periodic(domain.periodic())
    }
}

impl Scalar for f64 {
    fn rounded(x: f64) -> Self {
        x
    }

    fn depth(hit: &Collision64) -> Self {
        hit.depth
    }

    fn wall_depth(hit: &WallCollision64) -> Self {
        hit.depth
    }

    fn collision([a, b]: [u32; 2], toi: Self, depth: Self) -> Collision64 {
        Collision64 { a, b, toi, depth }
    }

    fn wall_collision([sphere, wall]: [u32; 2], toi: Self, depth: Self) -> WallCollision64 {
        WallCollision64 {
            sphere,
            wall,
            toi,
            depth,
        }
    }

    fn contact(
        hit: &Collision64,
        spheres: [Ball<Self>; 2],
        domain: &Domain,
        image: [i32; 3],
    ) -> Contact<Self> {
        let [a, b] = spheres.map(hard_sphere);
        hit.contact_of_image(&a, &b, domain, image)
    }

    fn wall_contact(
        hit: &WallCollision64,
        of: Ball<Self>,
        walls: &carom::Walls<Self>,
        domain: &Domain,
        image: [i32; 3],
    ) -> Option<Contact<Self>> {
        hit.contact_of_image(&hard_sphere(of), walls, domain, image)
    }

    fn domain(domain: &Domain) -> Domain {
        *domain
    }
}
