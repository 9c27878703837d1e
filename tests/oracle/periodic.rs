//! Exact brute force for periodic domains, on every pair of a sphere and an image (a periodic copy) of a
//! sphere.

use carom::{Domain, Sphere};
use glam::DVec3;

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
    let vector = |x: [f32; 3]| DVec3::from(x.map(f64::from));
    let p = vector(b.center) - vector(a.center);
    let v = vector(b.velocity) - vector(a.velocity);
    let reach = f64::from(a.radius) + f64::from(b.radius) + v.length() * f64::from(dt);
    let edges = edges(domain).map(vector);
    let mut across = edges;
    for k in 1..3 {
        for before in 0..k {
            let other = across[before];
            if other != DVec3::ZERO {
                across[k] -= other * (edges[k].dot(other) / other.length_squared());
            }
        }
    }
    // `across[k]` is the part of edge k of the periodic cell that is perpendicular to the edges
    // with lower numbers. A copy of sphere b can be near sphere a only if their distance along each
    // vector `across[k]` is at most `reach`. Edges 0 and 1 have no component along `across[2]`. So
    // the multiples of edge 2 are limited first, then those of edge 1, and then those of edge 0.
    let range = |k: usize, from: DVec3| {
        let square = across[k].length_squared();
        if edges[k] == DVec3::ZERO {
            return 0..=0;
        }
        let (at, wide) = (-across[k].dot(from) / square, reach / square.sqrt());
        let error = 1e-9 * (1.0 + at.abs() + wide + from.length() / square.sqrt());
        #[allow(clippy::cast_possible_truncation, reason = "the worlds are small")]
        let [first, last] =
            [(at - wide - error).ceil(), (at + wide + error).floor()].map(|x| x as i32);
        first..=last
    };
    let mut images = Vec::new();
    for n3 in range(2, p) {
        let p = p + edges[2] * f64::from(n3);
        for n2 in range(1, p) {
            let p = p + edges[1] * f64::from(n2);
            for n1 in range(0, p) {
                let p = p + edges[0] * f64::from(n1);
                // A periodic copy that is near sphere a along every direction may still miss it. So
                // the closest approach is computed in float64, with a margin for rounding.
                let time = (-p.dot(v) / v.length_squared()).max(0.0).min(dt.into());
                let nearest = if time > 0.0 { p + v * time } else { p };
                let touch = f64::from(a.radius) + f64::from(b.radius);
                let error =
                    1e-9 * (p.length() + touch + v.length() * f64::from(dt) + edges[0].length());
                if nearest.length() <= touch + error {
                    images.push([n1, n2, n3]);
                }
            }
        }
    }
    images.sort_unstable();
    images
}
