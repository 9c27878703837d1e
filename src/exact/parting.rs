//! Decides without error whether two spheres approach each other at the start of a step.

use std::cmp::Ordering;

use glam::DVec3;

use super::integers::{Numbers3, PairIntegers};
use crate::domain::Products;

/// Bound of the rounding errors of the scalar product, relative to the magnitudes of its terms. docs/exact.md (section 4,
/// "Pairs that part") has the proof.
const ERROR: f64 = 16.0 * f64::EPSILON;

/// Returns whether the distance of the centres of two spheres does not decrease at the start of a step. `products`
/// displace the second one.
pub(crate) fn parts(spheres: &[Numbers3; 2], products: &Products) -> bool {
    let [(a, _, v), (b, _, w)] = spheres
        .map(|(place, radius, velocity)| (DVec3::from(place), radius, DVec3::from(velocity)));
    let terms = products.map(|of| of.map(|(edge, n)| edge * f64::from(n)));
    let by = terms.map(|[x, y, z]| x + y + z);
    let most = terms.map(|[x, y, z]| x.abs() + y.abs() + z.abs());
    let growth = (b - a + DVec3::from(by)).dot(w - v);
    let size = (a.abs() + b.abs() + DVec3::from(most)).dot(v.abs() + w.abs());
    // The last number covers underflow.
    if growth.abs() > ERROR * size + f64::MIN_POSITIVE {
        return growth > 0.0;
    }
    PairIntegers::of(spheres, products).growth() != Ordering::Less
}
