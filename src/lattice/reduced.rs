//! The lattice of a periodic domain, with its *reduced* edges. `src/gpu/collide/lattice.rs` converts it for
//! the shaders (`shaders/periodic/parts/lattice.wgsl`). In the error bounds, ε is 2⁻²³.

use std::array::from_fn;

use glam::DVec3;

use super::{MAX_CELLS, duals};
use crate::shared::units::Scale;
use crate::{Domain, Error};

/// The reduced edges are sums of integer multiples of the domain's edges. A domain is rejected if
/// any of these integers is larger than this limit.
const MAX_COMBINED: i64 = 1 << 26;

/// Number of bits for the fraction of a fixed-point coordinate along an edge in the shaders.
#[cfg(feature = "gpu")]
pub(crate) const GPU_FRACTION_BITS: u32 = 20;
/// Bound of the rounding error of an image's centre in the shaders, in units of ε times the
/// magnitudes that are added. docs/exact.md (section 5) adds up the errors.
#[cfg(feature = "gpu")]
pub(crate) const GPU_SLACK: f32 = 8.0;
/// In the shaders, the coordinate of a point along an edge is a sum of products. Its rounding error
/// is at most this factor times ε times the sum of the magnitudes of the products.
#[cfg(feature = "gpu")]
pub(crate) const GPU_BOX_ERROR: f32 = 16.0;
/// The shaders add a displacement to the difference of two centres. The rounding error of the sum
/// is at most this factor times ε times the sum of the magnitudes of both.
#[cfg(feature = "gpu")]
pub(crate) const GPU_AWAY: f32 = 8.0;

/// The lattice, in the units of the grids. Its *reduced* edges are as short and as perpendicular as
/// possible. With long edges, many images of each sphere would reach into the cell of a skewed
/// domain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReducedLattice {
    pub(crate) count: usize,
    pub(crate) edges: [DVec3; 3],
    pub(crate) edge_error: [f64; 3],
    pub(crate) combined: [[i64; 3]; 3],
    /// The reciprocal vectors of the lattice edges.
    pub(crate) duals: [DVec3; 3],
    pub(crate) dual_lengths: [f64; 3],
    pub(crate) edge_lengths: [f64; 3],
    /// Upper bounds of the magnitudes of the components of each reciprocal vector. The rounding
    /// error of a component is at most 8 ulps of its bound, however far away the spheres are along
    /// an open direction (docs/exact.md, Lemma 5.2).
    pub(crate) dual_bounds: [DVec3; 3],
    /// For each axis, the index of the edge parallel to it. `None` if any edge is not parallel to
    /// an axis.
    pub(crate) along: Option<[Option<usize>; 3]>,
    /// The origin of the periodic domain, which is a corner of its cell.
    pub(crate) corner: DVec3,
    /// Limit on the distance of a sphere from the cell, in cell edges. It is small enough that the
    /// three numbers of an image fit in an `i32` each.
    pub(crate) max_cells: i32,
}

impl ReducedLattice {
    pub(crate) fn new(domain: &Domain, scale: &Scale) -> Result<Option<Self>, Error> {
        if domain.is_open() {
            return Ok(None);
        }
        let given = domain
            .edges_f32()
            .map(|edge| DVec3::from(edge.map(|x| scale.length(x))));
        let periodic = (0..3).filter(|&k| domain.periodic()[k]);
        let mut combined = [[0; 3]; 3];
        let mut count = 0;
        for k in periodic {
            combined[count][k] = 1;
            count += 1;
        }
        let sum = |combined: &[i64; 3]| {
            let terms = (0..3).filter(|&k| combined[k] != 0);
            #[allow(clippy::cast_precision_loss, reason = "the number is at most 2²⁶")]
            terms.map(|k| given[k] * combined[k] as f64).sum::<DVec3>()
        };
        reduce(&mut combined[..count], sum);
        let edges = combined.each_ref().map(sum);
        #[allow(clippy::cast_precision_loss, reason = "the number is at most 2²⁶")]
        let edge_error = combined.map(|combined| {
            let terms = (0..3).filter(|&k| combined[k] != 0);
            let terms = terms.map(|k| given[k].abs().element_sum() * combined[k].abs() as f64);
            4.0 * f64::EPSILON * terms.sum::<f64>()
        });
        let numbers = combined.as_flattened();
        let in_range = numbers.iter().all(|n| n.abs() <= MAX_COMBINED);
        // An edge that is hardly longer than its rounding error might have length 0 in exact
        // arithmetic.
        let long = (0..count).all(|k| edges[k].length() > edge_error[k] * f64::from(1 << 20));
        let duals = duals(edges);
        let is_finite = duals.iter().all(|dual| dual.is_finite());
        if !(in_range && long && span_a_cell(&edges, count) && is_finite) {
            return Err(Error::InvalidDomain {
                problem: format!(
                    "its periodic edges {:?} are parallel, or nearly so, and span no cell; correct \
                     them, or make an edge open with `with_periodic`",
                    domain.edges()
                ),
            });
        }
        // Takes the unit vectors along all edges. For each axis, `spread` is the largest magnitude
        // of their components along this axis.
        let spread = edges[..count].iter().fold(DVec3::ZERO, |spread, edge| {
            spread.max(edge.abs() / edge.length())
        });
        let dual_lengths = duals.map(DVec3::length);
        let along = along_axes(&edges[..count]);
        Ok(Some(Self {
            count,
            edges,
            dual_lengths,
            edge_lengths: edges.map(DVec3::length),
            // If each edge is parallel to a coordinate axis, so is its reciprocal vector. The
            // components along the two other axes are exactly 0, and so are their error bounds.
            dual_bounds: from_fn(|k| match along {
                Some(_) => 16.0 * duals[k].abs(),
                None => 16.0 * dual_lengths[k] * spread,
            }),
            along,
            edge_error,
            combined,
            duals,
            max_cells: max_cells(&combined),
            corner: DVec3::from(domain.origin_f32().map(|x| scale.length(x))),
        }))
    }

    /// Returns the coordinates of a point along the edges, in units of the edges, from the corner
    /// of the cell.
    #[inline(always)]
    pub(crate) fn coordinates(&self, point: DVec3) -> [f64; 3] {
        let point = point - self.corner;
        self.duals.map(|dual| dual.dot(point))
    }

    /// Returns the displacement of an image.
    #[inline(always)]
    pub(crate) fn displacement(&self, image: [i32; 3]) -> DVec3 {
        let [x, y, z] = image.map(f64::from);
        self.edges[0] * x + self.edges[1] * y + self.edges[2] * z
    }

    pub(crate) fn wrapping(&self, point: DVec3) -> DVec3 {
        let [x, y, z] = self.coordinates(point).map(f64::floor);
        -(self.edges[0] * x + self.edges[1] * y + self.edges[2] * z)
    }

    /// Converts multiples of the reduced edges to multiples of the domain's edges. Results beyond
    /// 32 bits wrap around, but images at such a distance are too far away to touch.
    #[inline(always)]
    pub(crate) fn in_given_edges(&self, image: [i32; 3]) -> [i32; 3] {
        from_fn(|k| {
            let terms = (0..3).map(|i| i64::from(image[i]) * self.combined[i][k]);
            #[allow(clippy::cast_possible_truncation, reason = "see above")]
            let component = terms.sum::<i64>() as i32;
            component
        })
    }
}

fn max_cells(combined: &[[i64; 3]; 3]) -> i32 {
    let largest = combined.as_flattened().iter().map(|n| n.abs()).max();
    let images = (1 << 28) / (3 * largest.unwrap_or(1).max(1));
    i32::try_from(images).map_or(MAX_CELLS, |images| images.min(MAX_CELLS))
}

/// Makes the edges of a lattice as short as possible by adding whole multiples of edges to one
/// another. `combined` has each new edge as three integers: the multiples of the given edges that
/// add up to it. The caller's function `sum` computes an edge from such integers.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the caller rejects numbers that are too large"
)]
pub(crate) fn reduce(combined: &mut [[i64; 3]], sum: impl Fn(&[i64; 3]) -> DVec3) {
    // Each round makes an edge shorter. With two edges (Gauss's algorithm), the number of rounds
    // grows with the logarithm of the ratio of their lengths.
    for _ in 0..400 {
        let mut changed = false;
        for i in 0..combined.len() {
            let edge = sum(&combined[i]);
            let mut best = (edge.length_squared() * (1.0 - 1e-9), combined[i]);
            // Subtracts multiples of the other edges from this one. For each other edge, three
            // multiples are tried: the one that makes this edge shortest, and the next smaller and
            // larger ones. The shortest result of all combinations is kept.
            let others: Vec<usize> = (0..combined.len()).filter(|&j| j != i).collect();
            for more in 0..3_i64.pow(others.len() as u32) {
                let mut tried = combined[i];
                let mut rest = more;
                for &j in &others {
                    let other = sum(&combined[j]);
                    let times = sum(&tried).dot(other) / other.length_squared();
                    let times = (times.round() as i64).saturating_add(rest % 3 - 1);
                    rest /= 3;
                    for k in 0..3 {
                        tried[k] = tried[k].saturating_sub(times.saturating_mul(combined[j][k]));
                    }
                }
                let length = sum(&tried).length_squared();
                if length < best.0 {
                    best = (length, tried);
                }
            }
            if best.1 != combined[i] {
                combined[i] = best.1;
                changed = true;
            }
        }
        if !changed || combined.iter().flatten().any(|n| n.abs() > MAX_COMBINED) {
            return;
        }
    }
}

fn along_axes(edges: &[DVec3]) -> Option<[Option<usize>; 3]> {
    let mut along = [None; 3];
    for (k, edge) in edges.iter().enumerate() {
        let axis = edge.abs().max_position();
        let others = (0..3).filter(|&other| other != axis);
        if others.map(|other| edge[other]).any(|x| x != 0.0) {
            return None;
        }
        along[axis] = Some(k);
    }
    Some(along)
}

/// Returns whether the first `count` edges are as far from linearly dependent as the shortest edges
/// of a lattice: the cell of three such edges has at least 1/√2 of the volume of a box with edges
/// of these lengths.
fn span_a_cell(edges: &[DVec3; 3], count: usize) -> bool {
    let [a, b, c] = *edges;
    let product: f64 = edges[..count].iter().map(|edge| edge.length()).product();
    let volume = match count {
        1 => return true,
        2 => a.cross(b).length(),
        _ => a.dot(b.cross(c)).abs(),
    };
    volume > 0.5 * product
}
