//! In a periodic domain, finds the images of a sphere that reach a solid cylinder.

use glam::DVec3;

use super::round::Round;
use super::vectors::{is_parallel, unit, vector};
use crate::lattice::{ImageBlock, duals};
use crate::{Domain, Sphere};

/// The periodic edges of a domain, projected on a plane perpendicular to the axis of a cylinder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CylinderImages {
    /// The reciprocal vectors of the projected edges, or 0 for the edges that are left out. They are
    /// perpendicular to the axis of the cylinder.
    duals: [DVec3; 3],
}

/// Returns the periodic edges of `domain`, projected on a plane perpendicular to the axis of a cylinder.
/// Edges parallel to the axis are left out: they are 0. At most two others are allowed.
pub(crate) fn edges_across(axis: DVec3, domain: &Domain) -> [DVec3; 3] {
    let unit = unit(axis);
    [0, 1, 2].map(|k| {
        let edge = domain.periodic_edge(k);
        if edge == DVec3::ZERO || is_parallel(axis, edge) {
            DVec3::ZERO
        } else {
            -unit.cross(unit.cross(edge))
        }
    })
}

impl CylinderImages {
    /// Returns three flags, one for each edge of the domain. The flag is true for a periodic edge
    /// that is not parallel to the axis of the cylinder. Only along such edges are the images of a
    /// sphere tested separately.
    pub(crate) fn edges(&self) -> [bool; 3] {
        self.duals.map(|dual| dual != DVec3::ZERO)
    }

    /// Projects the periodic edges of `domain` on a plane perpendicular to the axis of a solid cylinder.
    /// Returns `None` for other walls, and for a cylinder parallel to all periodic edges, because all images of
    /// a sphere touch such a wall in the same way.
    pub(crate) fn new(wall: &Round, domain: &Domain) -> Option<Self> {
        let axis = wall.axis.filter(|_| !wall.inside).map(vector)?;
        let mut edges = edges_across(axis, domain);
        let without: Vec<usize> = (0..3).filter(|&k| edges[k] == DVec3::ZERO).collect();
        if let [third] = without[..] {
            // Beside two edges, the axis counts as the third one. So the reciprocal vectors are accurate even
            // if the two edges are nearly parallel.
            edges[third] = unit(axis);
        }
        let mut duals = duals(edges);
        for &k in &without {
            duals[k] = DVec3::ZERO;
        }
        (without.len() < 3).then_some(Self { duals })
    }

    /// Returns the largest number of edges along which a sphere is displaced, for each unit of its distance from the axis.
    pub(crate) fn edges_for_length(&self) -> f64 {
        let lengths = self.duals.iter().map(|dual| dual.length());
        lengths.fold(0.0, f64::max)
    }

    /// Returns all images of a sphere that may reach the cylinder in a step of duration `dt`, and perhaps a few
    /// more. Returns `None` if one of these images is displaced by more than
    /// [`MAX_CELLS`](crate::lattice::MAX_CELLS) times an edge of the domain.
    pub(crate) fn reaching(&self, wall: &Round, sphere: &Sphere, dt: f32) -> Option<ImageBlock> {
        let [p, v] = wall.relative(sphere, ());
        let end = p + v * f64::from(dt);
        let reach = f64::from(wall.radius) + f64::from(sphere.radius);
        ImageBlock::between(|k| {
            let dual = self.duals[k];
            if dual == DVec3::ZERO {
                return None;
            }
            let [from, to] = [p, end].map(|place| dual.dot(place));
            // The range of listed images is enlarged by far more than the rounding errors of the coordinates.
            // So no image that reaches the cylinder is missing.
            let around =
                dual.length() * (reach + 1e-9 * (p.length() + end.length() + reach)) + 1e-9;
            Some([-from.max(to) - around, -from.min(to) + around])
        })
    }
}
