//! The lattice of a periodic domain, with the edges that the caller gives.

use glam::DVec3;

use super::{ImageBlock, duals};
use crate::{Domain, Error};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Lattice {
    domain: Domain,
    origin: DVec3,
    /// 0 for an edge that is not periodic.
    duals: [DVec3; 3],
    /// The lengths of the duals.
    dual_lengths: [f64; 3],
    /// See [`size`](Self::size).
    size: f64,
}

impl Lattice {
    pub(crate) fn new(domain: &Domain) -> Result<Self, Error> {
        let duals = duals([0, 1, 2].map(|k| domain.periodic_edge(k)));
        if !duals.iter().all(|dual| dual.is_finite()) {
            return Err(Error::InvalidDomain {
                problem: "its periodic edges span no volume; make them independent".to_owned(),
            });
        }
        let origin = DVec3::from(domain.origin());
        let edges = (0..3).map(|k| domain.periodic_edge(k).length());
        Ok(Self {
            domain: *domain,
            origin,
            duals,
            dual_lengths: duals.map(DVec3::length),
            size: if domain.is_open() {
                0.0
            } else {
                edges.sum::<f64>() + origin.length()
            },
        })
    }

    pub(crate) fn is_open(&self) -> bool {
        self.domain.is_open()
    }

    pub(crate) fn domain(&self) -> &Domain {
        &self.domain
    }

    pub(crate) fn shift(&self, image: [i32; 3]) -> DVec3 {
        if image == [0; 3] {
            return DVec3::ZERO;
        }
        self.domain.displacement(image).into()
    }

    /// The distance of the corner from the coordinate origin plus the lengths of the
    /// periodic edges.
    pub(crate) fn size(&self) -> f64 {
        self.size
    }

    /// 0 inside the cell, in multiples of each edge.
    pub(crate) fn beyond(&self, place: DVec3) -> [f64; 3] {
        self.duals.map(|dual| {
            let at = dual.dot(place - self.origin);
            (-at).max(at - 1.0).max(0.0)
        })
    }

    /// Returns the images in which a point of a region may be within `reach` of `place`:
    /// the cell, extended on both sides by `beyond[k]` times each edge k. `None` beyond
    /// [`MAX_CELLS`](super::MAX_CELLS).
    pub(crate) fn images_within(
        &self,
        place: DVec3,
        reach: f64,
        beyond: [f64; 3],
    ) -> Option<ImageBlock> {
        let from = place - self.origin;
        let ends = |k: usize| {
            let at = self.duals[k].dot(from);
            [at - 1.0 - beyond[k], at + beyond[k]]
        };
        self.images(ends, reach)
    }

    /// Returns a range with every image of `places[1]` within `reach` of `places[0]`.
    /// `None` beyond [`MAX_CELLS`](super::MAX_CELLS).
    pub(crate) fn images_between(&self, places: [DVec3; 2], reach: f64) -> Option<ImageBlock> {
        let ends = |k: usize| [self.duals[k].dot(places[0] - places[1]); 2];
        self.images(ends, reach)
    }

    /// Widens the ends `ends(k)` by the number of edges that a displacement of length
    /// `reach` can cover.
    fn images(&self, ends: impl Fn(usize) -> [f64; 2], reach: f64) -> Option<ImageBlock> {
        ImageBlock::between(|k| {
            self.domain.periodic()[k].then(|| {
                let share = reach * self.dual_lengths[k] + 1e-6;
                let [low, high] = ends(k);
                [low - share, high + share]
            })
        })
    }

    /// Returns `image` + `factor`·`other`, saturating.
    pub(crate) fn sum(image: [i32; 3], other: [i32; 3], factor: i32) -> [i32; 3] {
        std::array::from_fn(|k| image[k].saturating_add(other[k].saturating_mul(factor)))
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the conversion saturates, and a sphere so far away is reported by the detector"
    )]
    pub(crate) fn cell(&self, place: DVec3) -> [i32; 3] {
        let from = place - self.origin;
        let cell = |dual: DVec3| {
            let share = dual.dot(from);
            // Most points lie in cell 0, and comparing is faster than `floor`.
            if (0.0..1.0).contains(&share) {
                0
            } else {
                share.floor() as i32
            }
        };
        [
            cell(self.duals[0]),
            cell(self.duals[1]),
            cell(self.duals[2]),
        ]
    }
}
