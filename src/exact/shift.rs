//! The displacement of the second sphere of a pair by a vector of a periodic lattice.

use std::array::from_fn;

use glam::DVec3;

use crate::Domain;
use crate::domain::Products;

/// The displacement of a pair's second sphere: [`Translation`], or `()` in open space, for
/// which the compiler removes its code.
pub(crate) trait Shift: Copy {
    fn translation(&self) -> Option<&Translation>;

    /// Returns the terms of the displacement.
    fn products(&self) -> Products {
        match self.translation() {
            Some(Translation { edges, image, .. }) => {
                from_fn(|axis| from_fn(|k| (edges[k][axis].into(), image[k])))
            }
            None => Products::default(),
        }
    }
}

impl Shift for () {
    #[inline(always)]
    fn translation(&self) -> Option<&Translation> {
        None
    }
}

impl Shift for Translation {
    #[inline(always)]
    fn translation(&self) -> Option<&Translation> {
        Some(self)
    }
}

/// A sum of multiples of the domain's edges.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Translation {
    edges: [[f32; 3]; 3],
    image: [i32; 3],
    pub(super) by: [f64; 3],
    pub(super) exact: bool,
    /// For each axis, the sum of the magnitudes of the products of an edge and an integer.
    pub(super) terms: [f64; 3],
}

pub(crate) const MAX_IMAGE: i32 = 1 << 28;

impl Translation {
    pub(crate) fn new(domain: &Domain, image: [i32; 3]) -> Self {
        let edges = from_fn(|k| {
            if domain.periodic()[k] {
                domain.edges_f32()[k]
            } else {
                [0.0; 3]
            }
        });
        let mut exact = image.iter().all(|n| n.abs() <= MAX_IMAGE);
        let mut terms = [0.0; 3];
        let by = from_fn(|axis| {
            let products: [f64; 3] = from_fn(|k| f64::from(edges[k][axis]) * f64::from(image[k]));
            terms[axis] = products.iter().map(|x| x.abs()).sum();
            let two = products[0] + products[1];
            let three = two + products[2];
            exact &= is_exact(products[0], products[1], two);
            exact &= is_exact(two, products[2], three);
            three
        });
        Self {
            edges,
            image,
            by,
            exact,
            terms,
        }
    }

    pub(crate) fn vector(&self) -> DVec3 {
        self.by.into()
    }

    /// Returns the relative position of two spheres with the displacement, and a bound of
    /// its error, without that of the last sum. `away` is `to` − `from`.
    pub(crate) fn add(&self, from: [f32; 3], to: [f32; 3], away: DVec3) -> (DVec3, DVec3) {
        let mut error = DVec3::ZERO;
        for axis in 0..3 {
            let [from, to] = [from[axis], to[axis]].map(f64::from);
            if !self.exact || !is_exact(to, -from, away[axis]) {
                error[axis] = 8.0 * f64::EPSILON * (from.abs() + to.abs() + self.terms[axis]);
            }
        }
        (away + DVec3::from(self.by), error)
    }
}

fn is_exact(x: f64, y: f64, sum: f64) -> bool {
    let of_y = sum - x;
    (x - (sum - of_y)) + (y - of_y) == 0.0
}
