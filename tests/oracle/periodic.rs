//! Exact brute force for periodic domains, on every pair of a sphere and an image (a periodic copy) of a
//! sphere.

use carom::{Domain, HardSphere, Sphere};

use super::dyadic;
use super::exact::Exact;

/// A colliding pair: the indices of two spheres a and b, and the periodic image of b that touches
/// a. The image is three integers, one for each edge of the periodic cell. They say how many times
/// each edge displaces the image from b.
pub(crate) type Pair = (u32, u32, [i32; 3]);

pub(crate) fn brute_force(spheres: &[Sphere], dt: f32, domain: &Domain) -> Vec<Pair> {
    let all = pairs(spheres, spheres, dt, domain);
    all.filter(|&(a, b, image)| a < b || (a == b && image > [0; 3]))
        .collect()
}

pub(crate) fn brute_force_between(
    first: &[Sphere],
    second: &[Sphere],
    dt: f32,
    domain: &Domain,
) -> Vec<Pair> {
    pairs(first, second, dt, domain).collect()
}

/// Returns the motion of a periodic copy of sphere `b` relative to sphere `a`. `image` says how many times
/// each edge of the periodic cell displaces the copy.
pub(crate) fn motion(a: &Sphere, b: &Sphere, domain: &Domain, image: [i32; 3]) -> Exact {
    Exact::of_image(a, b, &edges(domain), image)
}

/// Returns the three edges of a cell, with 0 in place of each edge along which the world is not periodic.
fn edges(domain: &Domain) -> [[f32; 3]; 3] {
    #[allow(clippy::cast_possible_truncation, reason = "the numbers are float32")]
    let mut edges = domain.edges().map(|edge| edge.map(|x| x as f32));
    for (edge, periodic) in edges.iter_mut().zip(domain.periodic()) {
        if !periodic {
            *edge = [0.0; 3];
        }
    }
    edges
}

fn pairs<'a>(
    first: &'a [Sphere],
    second: &'a [Sphere],
    dt: f32,
    domain: &'a Domain,
) -> impl Iterator<Item = Pair> + 'a {
    first.iter().enumerate().flat_map(move |(i, a)| {
        second.iter().enumerate().flat_map(move |(j, b)| {
            let images = near(a, b, dt, domain).into_iter();
            let hits = images.filter(move |&image| motion(a, b, domain, image).collide(dt.into()));
            #[allow(clippy::cast_possible_truncation, reason = "the worlds are small")]
            hits.map(move |image| (i as u32, j as u32, image))
        })
    })
}

/// Returns all periodic copies of sphere `b` that may come near sphere `a` during the step, sorted. Each copy
/// is given by the number of times that each edge of the cell displaces it.
fn near(a: &Sphere, b: &Sphere, dt: f32, domain: &Domain) -> Vec<[i32; 3]> {
    let [a, b] = [a, b].map(|sphere| {
        HardSphere::new(sphere.center.map(f64::from), sphere.radius.into())
            .with_velocity(sphere.velocity.map(f64::from))
    });
    dyadic::near(&a, &b, dt.into(), domain, 0.0)
}
