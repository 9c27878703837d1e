//! Wraps positions into the cell of a periodic domain, in float64.

use glam::{DVec3, Vec3};

use crate::{Domain, Error};

/// The lattice of a periodic domain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lattice {
    domain: Domain,
    origin: DVec3,
    /// `duals[k]`·x is the coordinate of x along edge k, or 0 for an edge that is not periodic.
    duals: [DVec3; 3],
}

impl Lattice {
    /// Returns the lattice of a checked domain, or an error if its edges are not independent.
    pub(crate) fn new(domain: &Domain) -> Result<Self, Error> {
        let mut duals = [DVec3::ZERO; 3];
        for (k, dual) in duals.iter_mut().enumerate() {
            let edge = domain.periodic_edge(k);
            if domain.periodic()[k] {
                let [m, n] = [
                    domain.periodic_edge((k + 1) % 3),
                    domain.periodic_edge((k + 2) % 3),
                ];
                // The part of the edge that is perpendicular to the other periodic edges.
                let across = match (m == DVec3::ZERO, n == DVec3::ZERO) {
                    (true, true) => edge,
                    (false, true) => edge - m * (edge.dot(m) / m.length_squared()),
                    (true, false) => edge - n * (edge.dot(n) / n.length_squared()),
                    (false, false) => m.cross(n),
                };
                *dual = across / across.dot(edge);
            }
            if !dual.is_finite() {
                return Err(Error::InvalidDomain {
                    problem: "its periodic edges span no volume; make them independent".to_owned(),
                });
            }
        }
        Ok(Self {
            domain: *domain,
            origin: Vec3::from(domain.origin()).as_dvec3(),
            duals,
        })
    }

    pub(crate) fn is_open(&self) -> bool {
        self.domain.is_open()
    }

    pub(crate) fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Returns the displacement of an image.
    pub(crate) fn shift(&self, image: [i32; 3]) -> DVec3 {
        if image == [0; 3] {
            return DVec3::ZERO;
        }
        self.domain.displacement(image).into()
    }

    /// Returns the cell that a place lies in.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the conversion saturates, and a sphere so far away is reported by the detector"
    )]
    pub(crate) fn cell(&self, place: DVec3) -> [i32; 3] {
        let from = place - self.origin;
        self.duals.map(|dual| dual.dot(from).floor() as i32)
    }
}
