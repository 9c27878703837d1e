//! Converts the lattice of a periodic domain to the form that the shaders read. Twin of
//! `shaders/periodic/lattice_units.wgsl`.

use bytemuck::Zeroable;
use glam::DVec3;

use crate::gpu::device::shader::constants::IMAGE_BITS;
use crate::gpu::device::shader::layout::GpuLattice;
use crate::lattice::ReducedLattice;
use crate::shared::units::Units;
use crate::{Domain, Error};

/// Largest component of an image that fits into [`IMAGE_BITS`] bits.
const MOST: i64 = (1 << (IMAGE_BITS - 1)) - 1;
/// Shortest allowed edge of a periodic domain. The reciprocal vectors of shorter edges are out of
/// the range of float32.
const SHORTEST_EDGE: f64 = 1.0 / (1_u128 << 120) as f64;
/// On the GPU, a sphere may be at most n edges of the periodic cell away from the cell, where n
/// depends on the domain. A domain is rejected if n is below `FEWEST_CELLS`.
const FEWEST_CELLS: i64 = 4;

impl GpuLattice {
    /// Returns the lattice of a periodic domain in the caller's units. In open space, all edges are
    /// 0.
    ///
    /// # Errors
    /// Returns one of these errors:
    /// - [`Error::InvalidDomain`] if the edges span no cell.
    /// - [`Error::Unsupported`] if the cell is too small or too skewed for float32 arithmetic.
    pub(crate) fn new(domain: &Domain) -> Result<Self, Error> {
        let scale = Units::default().scale(1.0);
        let Some(lattice) = ReducedLattice::new(domain, &scale)? else {
            return Ok(Self {
                most_cells: MOST as f32,
                ..Self::zeroed()
            });
        };
        let count = lattice.count;
        let unsupported = |what| Error::Unsupported {
            what,
            place: "on the GPU",
        };
        if (lattice.edge_lengths[..count].iter()).any(|&length| length < SHORTEST_EDGE) {
            return Err(unsupported("periodic cells with an edge below 2⁻¹²⁰"));
        }
        let most_cells = most_cells(&lattice);
        if most_cells < FEWEST_CELLS {
            return Err(unsupported(
                "periodic cells as skewed as this (combine the edges so that they are shorter)",
            ));
        }
        let mut own = Self {
            corner: lattice.corner.as_vec3().to_array(),
            most_cells: most_cells as f32,
            ..Self::zeroed()
        };
        let mut width = f64::MAX;
        for k in 0..count {
            let [edge, dual] = [lattice.edges[k], lattice.duals[k]];
            let length = lattice.dual_lengths[k];
            own.edges[k] = with(edge, raised(edge.abs().max_element()));
            own.duals[k] = with(dual, raised(length));
            let bounds = dual.abs() + lattice.dual_bounds[k] / f64::from(1 << 16);
            own.dual_bounds[k] = with(bounds * ROUNDED_UP, 0.0);
            let [x, y, z] = lattice.combined[k].map(|n| n as i32);
            own.in_given_edges[k] = [x, y, z, 0];
            width = width.min(1.0 / length);
        }
        own.width = width as f32;
        own.given_edges = [0, 1, 2].map(|axis| {
            let bits = |k| domain.periodic_edge(k).as_vec3()[axis].to_bits();
            [bits(0), bits(1), bits(2), 0]
        });
        Ok(own)
    }
}

/// Factor by which a float64 is enlarged, so that it does not become smaller when it is rounded to
/// float32.
const ROUNDED_UP: f64 = 1.0 + 1.0 / (1 << 20) as f64;

fn raised(x: f64) -> f32 {
    (x * ROUNDED_UP) as f32
}

fn with(vector: DVec3, last: f32) -> [f32; 4] {
    let [x, y, z] = vector.as_vec3().to_array();
    [x, y, z, last]
}

/// Returns the largest allowed distance between a sphere and the periodic cell, in edges of the
/// cell. At larger distances, the displacement of a pair's second sphere might not fit into one
/// packed word.
fn most_cells(lattice: &ReducedLattice) -> i64 {
    let along = |k: usize| lattice.combined.iter().map(move |row| row[k].abs());
    let sums = (0..3).map(|k| along(k).sum::<i64>().max(1));
    // The displacement of a pair is the difference of the displacements of its two spheres, so it
    // may be twice as large as the largest displacement of a sphere.
    sums.map(|sum| MOST / (2 * sum)).min().unwrap_or(0)
}
