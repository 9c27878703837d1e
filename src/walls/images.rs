//! In a periodic domain, finds the images (periodic copies) of a sphere that reach a solid cylinder.

use glam::DVec3;

use super::round::Round;
use super::wall::is_parallel;
use crate::{Domain, Sphere};

/// A periodic image is displaced from its sphere by multiples of the edges of the domain. This is the largest
/// multiple that is allowed for an image that reaches a cylinder.
pub(crate) const MAX_CELLS: i32 = 1 << 20;

/// The periodic edges of a domain, projected on a plane perpendicular to the axis of a cylinder. Edges parallel
/// to the axis are left out, and at most two others are allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CylinderImages {
    /// For each periodic edge that is not parallel to the axis of the cylinder, its number (0, 1 or
    /// 2) among the three edges of the domain. If there is only one such edge, the second entry is
    /// `None`.
    numbers: [Option<usize>; 2],
    /// For each edge in `numbers`, its reciprocal vector d, which is perpendicular to the axis of
    /// the cylinder. The dot product of d with its own edge is 1, and with the other edge in
    /// `numbers` it is 0. So d·x is the coordinate of a point x along the edge of d, as a multiple
    /// of this edge.
    duals: [DVec3; 2],
}

/// The images of one sphere that may reach a cylinder.
#[derive(Clone, Debug)]
pub(crate) struct ReachingImages {
    numbers: [Option<usize>; 2],
    /// For each edge in `numbers`, the smallest and the largest multiple of the edge by which an image that
    /// may reach the cylinder is displaced from the sphere.
    ranges: [[i32; 2]; 2],
}

impl CylinderImages {
    /// Returns three flags, one for each edge of the domain. The flag is true for a periodic edge
    /// that is not parallel to the axis of the cylinder. Only along such edges are the images of a
    /// sphere tested separately.
    pub(crate) fn edges(&self) -> [bool; 3] {
        [0, 1, 2].map(|k| self.numbers.contains(&Some(k)))
    }

    /// Projects the periodic edges of `domain` on a plane perpendicular to the axis of a solid cylinder.
    /// Returns `None` for other walls, and for a cylinder parallel to all periodic edges, because all images of
    /// a sphere touch such a wall in the same way.
    pub(crate) fn new(wall: &Round, domain: &Domain) -> Option<Self> {
        let axis = wall.axis.filter(|_| !wall.inside)?;
        let beside =
            |&k: &usize| domain.periodic()[k] && !is_parallel(axis, domain.periodic_edge(k));
        let mut beside = (0..3).filter(beside);
        let numbers = [beside.next(), beside.next()];
        numbers[0]?;
        let axis = DVec3::from(axis.map(f64::from)).normalize();
        let edges = numbers.map(|number| {
            let edge = number.map_or(DVec3::ZERO, |k| domain.periodic_edge(k));
            -axis.cross(axis.cross(edge))
        });
        let [a, b] = edges;
        let dual = |edge: DVec3, other: DVec3| {
            let across = if numbers[1].is_some() {
                other.cross(axis)
            } else {
                edge
            };
            across / across.dot(edge)
        };
        let second = numbers[1].map_or(DVec3::ZERO, |_| dual(b, a));
        Some(Self {
            numbers,
            duals: [dual(a, b), second],
        })
    }

    /// Returns all images of a sphere that may reach the cylinder in a step of duration `dt`, and perhaps a few
    /// more. Returns `None` if one of these images is displaced by more than [`MAX_CELLS`] times an edge of the
    /// domain.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the numbers are at most 2²⁰"
    )]
    pub(crate) fn reaching(
        &self,
        wall: &Round,
        sphere: &Sphere,
        dt: f32,
    ) -> Option<ReachingImages> {
        let [p, v] = wall.relative(sphere, ());
        let end = p + v * f64::from(dt);
        let reach = f64::from(wall.radius) + f64::from(sphere.radius);
        let most = f64::from(MAX_CELLS);
        let mut ranges = [[0; 2]; 2];
        for (k, range) in ranges.iter_mut().enumerate() {
            if self.numbers[k].is_none() {
                continue;
            }
            let dual = self.duals[k];
            let [from, to] = [p, end].map(|place| dual.dot(place));
            // The range of listed images is enlarged by far more than the rounding errors of the coordinates.
            // So no image that reaches the cylinder is missing.
            let around =
                dual.length() * (reach + 1e-9 * (p.length() + end.length() + reach)) + 1e-9;
            let first = (-from.max(to) - around).ceil();
            let last = (-from.min(to) + around).floor();
            if !(first.abs() <= most && last.abs() <= most) {
                return None;
            }
            *range = [first as i32, last as i32];
        }
        Some(ReachingImages {
            numbers: self.numbers,
            ranges,
        })
    }
}

impl ReachingImages {
    pub(crate) fn count(&self) -> u64 {
        let along = self
            .ranges
            .map(|[first, last]| u64::from((last - first + 1).max(0).unsigned_abs()));
        along[0] * along[1]
    }

    /// Calls the caller's function for each image, in ascending order of the displacements.
    pub(crate) fn each(&self, mut visit: impl FnMut([i32; 3])) {
        let [one, other] = self.ranges;
        for n in one[0]..=one[1] {
            for m in other[0]..=other[1] {
                let mut image = [0; 3];
                for (number, n) in self.numbers.into_iter().zip([n, m]) {
                    if let Some(k) = number {
                        image[k] = n;
                    }
                }
                visit(image);
            }
        }
    }
}
