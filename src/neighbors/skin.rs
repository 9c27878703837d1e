//! How far particles have moved since a neighbour list was made, relative to a periodic cell that may
//! have changed its shape.
//!
//! Let x and x' be the places of a particle then and now, h and h' the edges of the cell, and o and o'
//! its origins. F is a linear map with F·h = h' that changes nothing across the edges. Whole numbers w
//! and a *move* m are chosen for each particle such that
//!
//! x' = o' + F·(x − o) + h'·w + m.
//!
//! An image n' of particle j now is the image n = n' − wᵢ + wⱼ then, because the vectors d' and d from
//! particle i to these images satisfy d' = F·d + mⱼ − mᵢ. So |d| ≤ s·(|d'| + |mᵢ| + |mⱼ|), where s is the
//! norm of F⁻¹. If the list reaches rᵢ + rⱼ + `skin`, and the particles are neighbours now, |d'| ≤ rᵢ + rⱼ,
//! then the list has the pair if s·(r + |m|) ≤ r + `skin`/2 holds for each particle.

use glam::{DMat3, DVec3};

use crate::Domain;
use crate::lattice::duals;

/// Of a computed move, relative, for a cell of three perpendicular edges.
const ERROR: f64 = 1.0 / (1_u64 << 44) as f64;

const MOST_WRAPPED: f64 = (1 << 20) as f64;

const MOST_STRETCHED: f64 = 2.0;

/// With less, squares may lose digits, and no move is allowed. Half of a float32 is longer.
const SHORTEST: f64 = 1e-140;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Deformation {
    skin: f64,
    /// Whether the domain is the same.
    is_none: bool,
    map: DMat3,
    origins: [DVec3; 2],
    edges: [DVec3; 3],
    duals: [DVec3; 3],
    stretch: f64,
    /// As a multiple of the sizes of what is added.
    error: f64,
}

impl Deformation {
    /// `None` if they are periodic along different edges, or if the change is not a small one.
    pub(crate) fn between(old: &Domain, new: &Domain, skin: f64) -> Option<Self> {
        if old.periodic() != new.periodic() {
            return None;
        }
        let [before, edges] = [old, new].map(|domain| [0, 1, 2].map(|k| domain.periodic_edge(k)));
        let [old_duals, duals] = [before, edges].map(duals);
        let mut map = DMat3::IDENTITY;
        let mut condition = 1.0;
        for k in 0..3 {
            let change = edges[k] - before[k];
            let along = old_duals[k].to_array().map(|dual| change * dual);
            map += DMat3::from_cols(along[0], along[1], along[2]);
            let longest = before[k].length().max(edges[k].length());
            condition += longest * old_duals[k].length().max(duals[k].length());
        }
        let inverse = map.inverse();
        let square = (inverse.transpose() * inverse).to_cols_array_2d();
        // The norm of a symmetric matrix is at most its largest sum of magnitudes in a row.
        let rows = square.map(|row| row.map(f64::abs).iter().sum::<f64>());
        let stretch = rows.into_iter().fold(0.0, f64::max).sqrt() * (1.0 + ERROR);
        let is_small = stretch < MOST_STRETCHED && map.determinant() > 0.125;
        is_small.then_some(Self {
            skin,
            is_none: old.is_open() || old == new,
            map,
            origins: [old, new].map(|domain| DVec3::from(domain.origin())),
            edges,
            duals,
            stretch,
            error: ERROR * condition * condition,
        })
    }

    /// `None` if it has moved too far. `places` are then and now, and `reach` is the
    /// radius, or half the cutoff.
    #[allow(clippy::cast_possible_truncation, reason = "the range is checked")]
    pub(crate) fn wrapped(&self, places: [DVec3; 2], reach: f64) -> Option<[i32; 3]> {
        let [old, new] = places;
        let half = self.skin / 2.0;
        if half < SHORTEST {
            return (self.is_none && new == old).then_some([0; 3]);
        }
        if self.is_none && (new - old).length_squared() <= half * half {
            return Some([0; 3]);
        }
        let from = old - self.origins[0];
        let carried = self.map * from;
        let mut rest = new - self.origins[1] - carried;
        let mut size = reach + carried.length() + from.length() + new.length();
        size += self.origins[0].length() + self.origins[1].length();
        let wrapped = self.duals.map(|dual| dual.dot(rest).round());
        for (edge, wrapped) in self.edges.into_iter().zip(wrapped) {
            rest -= edge * wrapped;
            size += wrapped.abs() * edge.length();
        }
        let moved = rest.length() + self.error * size;
        let is_kept = self.stretch * (reach + moved) <= (reach + half) * (1.0 - ERROR)
            && wrapped.iter().all(|number| number.abs() <= MOST_WRAPPED);
        is_kept.then(|| wrapped.map(|number| number as i32))
    }
}
