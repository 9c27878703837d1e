//! In a periodic domain, finds the images of a sphere that reach a solid cylinder.

use glam::DVec3;

use super::round::Round;
use super::vectors::{is_parallel, unit, vector};
use crate::lattice::{ImageBlock, duals};
use crate::{Domain, Sphere};

/// Projected on a plane perpendicular to the axis of a cylinder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CylinderImages {
    /// 0 for the edges that are left out. Perpendicular to the axis.
    duals: [DVec3; 3],
}

/// Projected; those parallel to the axis are 0. At most two others are allowed.
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
    /// The periodic edges that are not parallel to the axis. Only along these are images
    /// tested separately.
    pub(crate) fn edges(&self) -> [bool; 3] {
        self.duals.map(|dual| dual != DVec3::ZERO)
    }

    /// `None` if all images of a sphere touch the wall in the same way: for other walls,
    /// and for a cylinder parallel to all periodic edges.
    pub(crate) fn new(wall: &Round, domain: &Domain) -> Option<Self> {
        let axis = wall.axis.filter(|_| !wall.inside).map(vector)?;
        let mut edges = edges_across(axis, domain);
        let without: Vec<usize> = (0..3).filter(|&k| edges[k] == DVec3::ZERO).collect();
        if let [third] = without[..] {
            // The reciprocal vectors are then accurate even if the two edges are nearly parallel.
            edges[third] = unit(axis);
        }
        let mut duals = duals(edges);
        for &k in &without {
            duals[k] = DVec3::ZERO;
        }
        (without.len() < 3).then_some(Self { duals })
    }

    pub(crate) fn edges_for_length(&self) -> f64 {
        let lengths = self.duals.iter().map(|dual| dual.length());
        lengths.fold(0.0, f64::max)
    }

    /// Those that may reach the cylinder, and perhaps a few more. `None` if one is displaced by more than
    /// [`MAX_CELLS`](crate::lattice::MAX_CELLS) edges.
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
            // By far more than the rounding errors of the coordinates.
            let around =
                dual.length() * (reach + 1e-9 * (p.length() + end.length() + reach)) + 1e-9;
            Some([-from.max(to) - around, -from.min(to) + around])
        })
    }
}
