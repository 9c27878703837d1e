//! The numbers of a step, float32 or float64, and what this module does differently for the two.

use std::sync::Arc;

use bytemuck::Pod;
use carom::{
    Collision, Collision64, Contact, Domain, HardSphere, Sphere, WallCollision, WallCollision64,
};
use numpy::Element;
use pyo3::PyResult;

use crate::detector::Spare;
use crate::found::{AnyFound, Results};
use crate::neighbors::AnyList;
use crate::set::Set;
use crate::walls::Walls;

pub(crate) trait Scalar: carom::Number + Element + Pod {
    fn rounded(x: f64) -> Self;
    fn depth(hit: &Self::Collision) -> Self;
    fn wall_depth(hit: &Self::WallCollision) -> Self;
    fn collision(sides: [u32; 2], toi: Self, depth: Self) -> Self::Collision;
    fn wall_collision(sides: [u32; 2], toi: Self, depth: Self) -> Self::WallCollision;
    /// Returns the contact of a sphere with an image of another one.
    fn contact(
        hit: &Self::Collision,
        spheres: [(&Set<Self>, usize); 2],
        domain: &Domain,
        image: [i32; 3],
    ) -> Contact<Self>;
    /// Returns the contact of an image of a sphere with a wall.
    fn wall_contact(
        hit: &Self::WallCollision,
        sphere: (&Set<Self>, usize),
        walls: &carom::Walls<Self>,
        domain: &Domain,
        image: [i32; 3],
    ) -> Option<Contact<Self>>;
    /// Returns the domain whose numbers are of this type.
    fn domain(domain: &Domain) -> Domain;
    fn of_walls(walls: &Walls) -> PyResult<Arc<carom::Walls<Self>>>;
    fn any(results: Results<Self>) -> AnyFound;
    fn spare(spare: &Spares) -> &Spare<Self>;
    /// Returns the list of neighbours in these numbers. If it is in others, it becomes an empty one.
    fn list(list: &mut AnyList) -> Option<&mut carom::NeighborList<Self>>;
}

/// Memory of earlier calls.
#[derive(Default)]
pub(crate) struct Spares {
    float32: Spare<f32>,
    float64: Spare<f64>,
}

fn sphere((set, index): (&Set<f32>, usize)) -> Sphere {
    Sphere {
        center: set.center(index),
        radius: set.radius(index),
        velocity: set.velocity(index),
        groups: 0,
    }
}

fn hard_sphere((set, index): (&Set<f64>, usize)) -> HardSphere {
    HardSphere::new(set.center(index), set.radius(index)).with_velocity(set.velocity(index))
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
        spheres: [(&Set<Self>, usize); 2],
        domain: &Domain,
        image: [i32; 3],
    ) -> Contact {
        let [a, b] = spheres.map(sphere);
        hit.contact_of_image(&a, &b, domain, image)
    }

    fn wall_contact(
        hit: &WallCollision,
        of: (&Set<Self>, usize),
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

    fn of_walls(walls: &Walls) -> PyResult<Arc<carom::Walls>> {
        walls.rounded()
    }

    fn any(results: Results<Self>) -> AnyFound {
        AnyFound::Float32(results)
    }

    fn spare(spares: &Spares) -> &Spare<Self> {
        &spares.float32
    }

    fn list(list: &mut AnyList) -> Option<&mut carom::NeighborList> {
        if matches!(list, AnyList::Float64(_)) {
            *list = AnyList::Float32(carom::NeighborList::default());
        }
        match list {
            AnyList::Float32(list) => Some(list),
            AnyList::Float64(_) => None,
        }
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
        spheres: [(&Set<Self>, usize); 2],
        domain: &Domain,
        image: [i32; 3],
    ) -> Contact<Self> {
        let [a, b] = spheres.map(hard_sphere);
        hit.contact_of_image(&a, &b, domain, image)
    }

    fn wall_contact(
        hit: &WallCollision64,
        of: (&Set<Self>, usize),
        walls: &carom::Walls<Self>,
        domain: &Domain,
        image: [i32; 3],
    ) -> Option<Contact<Self>> {
        hit.contact_of_image(&hard_sphere(of), walls, domain, image)
    }

    fn domain(domain: &Domain) -> Domain {
        *domain
    }

    fn of_walls(walls: &Walls) -> PyResult<Arc<carom::Walls<Self>>> {
        walls.exact()
    }

    fn any(results: Results<Self>) -> AnyFound {
        AnyFound::Float64(results)
    }

    fn spare(spares: &Spares) -> &Spare<Self> {
        &spares.float64
    }

    fn list(list: &mut AnyList) -> Option<&mut carom::NeighborList<Self>> {
        if matches!(list, AnyList::Float32(_)) {
            *list = AnyList::Float64(carom::NeighborList::default());
        }
        match list {
            AnyList::Float32(_) => None,
            AnyList::Float64(list) => Some(list),
        }
    }
}
