// Computes the position of the periodic domain's cell relative to the moving origin of the grids. The cell
// moves with this origin. Also limits time segments to the width of the cell, because longer segments would
// have many images (periodic copies) in it. Dispatched as one invocation. Twin of `Cell::new` in
// `src/cpu/images/cell.rs`.

#import types::{Lattice, Params, Space}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> space: Space;
@group(0) @binding(2) var<storage, read_write> lattice: Lattice;

@compute @workgroup_size(1)
fn main() {
    // The grids have a moving origin, and their copy of the periodic cell moves with it. Half-way through
    // the step, this copy coincides with the periodic cell itself, which is at rest. The next line computes
    // where the corner of the copy is at the start of the step.
    lattice.cell_corner = lattice.corner - space.frame.origin - space.frame.drift * (0.5 * params.dt);
    if lattice.width > 0.0 {
        space.segment = min(space.segment, lattice.width);
    }
}
