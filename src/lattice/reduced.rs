//! The lattice of a periodic domain, with its *reduced* edges. `src/gpu/collide/lattice.rs` converts it for
//! the shaders (`shaders/periodic/parts/lattice.wgsl`). In the error bounds, ε is 2⁻²³.

use std::array::from_fn;

use glam::DVec3;

use super::{MAX_CELLS, duals};
use crate::shared::units::Scale;
use crate::{Domain, Error};

/// Bound of the multiples of the domain's edges that add up to a reduced edge.
const MAX_COMBINED: i64 = 1 << 26;

#[cfg(feature = "gpu")]
pub(crate) const GPU_FRACTION_BITS: u32 = 20;
/// Rounding error of an image's centre in the shaders, in units of ε times the magnitudes that
/// are added (docs/exact.md, section 5).
#[cfg(feature = "gpu")]
pub(crate) const GPU_SLACK: f32 = 8.0;
/// Rounding error of a coordinate along an edge in the shaders, in units of ε times the sum of
/// the magnitudes of the products.
#[cfg(feature = "gpu")]
pub(crate) const GPU_BOX_ERROR: f32 = 16.0;
/// Rounding error of a displaced relative position in the shaders, in units of ε times the sum
/// of the magnitudes.
#[cfg(feature = "gpu")]
pub(crate) const GPU_AWAY: f32 = 8.0;

/// In the units of the grids. The *reduced* edges are as short and as perpendicular as
/// possible: with long edges, many images would reach into a skewed cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReducedLattice {
    pub(crate) count: usize,
    pub(crate) edges: [DVec3; 3],
    pub(crate) edge_error: [f64; 3],
    pub(crate) combined: [[i64; 3]; 3],
    pub(crate) duals: [DVec3; 3],
    pub(crate) dual_lengths: [f64; 3],
    pub(crate) edge_lengths: [f64; 3],
    /// The rounding error of a component is at most 8 ulps of its bound, however far away
    /// the spheres are along an open direction (docs/exact.md, Lemma 5.2).
    pub(crate) dual_bounds: [DVec3; 3],
    /// `None` if any edge is not parallel to an axis.
    pub(crate) along: Option<[Option<usize>; 3]>,
    /// A corner of the cell.
    pub(crate) corner: DVec3,
    /// So small that the three numbers of an image fit in an `i32` each.
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
        // Otherwise its exact length might be 0.
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
        // Largest magnitude of the unit vectors' components, for each axis.
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
            // Along edges parallel to the axes, so are the reciprocal vectors, and
            // the other components are exactly 0.
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

    /// Results beyond 32 bits wrap around; images at such a distance are too far away to touch.
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

/// Shortens the edges by adding whole multiples of one another. `combined` has each as
/// multiples of the given edges, from which `sum` computes it.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the caller rejects numbers that are too large"
)]
pub(crate) fn reduce(combined: &mut [[i64; 3]], sum: impl Fn(&[i64; 3]) -> DVec3) {
    // Each round makes an edge shorter. With two edges (Gauss's algorithm), the number of
    // rounds grows with the logarithm of the ratio of their lengths.
    for _ in 0..400 {
        let mut changed = false;
        for i in 0..combined.len() {
            let edge = sum(&combined[i]);
            let mut best = (edge.length_squared() * (1.0 - 1e-9), combined[i]);
            // Tries the best multiple of each other edge, and the ones next to it.
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

/// Three edges that are as short as possible span at least 1/√2 of the volume of a box with
/// edges of these lengths.
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
