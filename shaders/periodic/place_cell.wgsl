// Computes the position of the periodic cell relative to the frame. Also limits
// segments to its width: longer ones would have many images in it. Dispatched as one
// invocation. Twin of `Cell::new` in `src/cpu/images/cell.rs`.

#import types::{Lattice, Params, Space}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> space: Space;
@group(0) @binding(2) var<storage, read_write> lattice: Lattice;

@compute @workgroup_size(1)
fn main() {
    // The copy that moves with the frame coincides with the cell half-way through
    // the step.
    lattice.cell_corner = lattice.corner - space.frame.origin - space.frame.drift * (0.5 * params.dt);
    if lattice.width > 0.0 {
        space.segment = min(space.segment, lattice.width);
    }
}
