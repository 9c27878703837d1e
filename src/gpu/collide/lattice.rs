//! Converts the lattice of a periodic domain to the form that the shaders read. Twin of
//! `shaders/periodic/lattice_units.wgsl`.

use bytemuck::Zeroable;
use glam::DVec3;

use crate::gpu::device::shader::constants::IMAGE_BITS;
use crate::gpu::device::shader::layout::GpuLattice;
use crate::lattice::ReducedLattice;
use crate::shared::units::Units;
use crate::{Domain, Error};

const MOST: i64 = (1 << (IMAGE_BITS - 1)) - 1;
/// The reciprocal vectors of shorter edges are out of the range of float32.
const SHORTEST_EDGE: f64 = 1.0 / (1_u128 << 120) as f64;
/// A domain is rejected if a sphere may not be at least so many edges away from the cell.
const FEWEST_CELLS: i64 = 4;

impl GpuLattice {
    /// In open space, all edges are 0.
    ///
    /// # Errors
    ///
    /// Returns [`Error::InvalidDomain`] if the edges span no cell, and
    /// [`Error::Unsupported`] if the cell is too small or too skewed for float32
    /// arithmetic.
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

/// Rounding to float32 then does not make a float64 smaller.
const ROUNDED_UP: f64 = 1.0 + 1.0 / (1 << 20) as f64;

fn raised(x: f64) -> f32 {
    (x * ROUNDED_UP) as f32
}

fn with(vector: DVec3, last: f32) -> [f32; 4] {
    let [x, y, z] = vector.as_vec3().to_array();
    [x, y, z, last]
}

/// Returns how many edges a sphere may be away from the cell, so that the displacement of a
/// pair fits into one packed word.
fn most_cells(lattice: &ReducedLattice) -> i64 {
    let along = |k: usize| lattice.combined.iter().map(move |row| row[k].abs());
    let sums = (0..3).map(|k| along(k).sum::<i64>().max(1));
    // The displacement of a pair is the difference of two.
    sums.map(|sum| MOST / (2 * sum)).min().unwrap_or(0)
}
