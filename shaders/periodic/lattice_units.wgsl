// Converts the lattice to the units of the shaders. Also copies the step's parameters
// with scale factors of 1, for kernels that read spheres in these units. Dispatched as
// one invocation. Twin of `src/gpu/collide/lattice.rs`.

#import types::{Lattice, Params}
#import units::{times_power, vector_times_power}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> given_lattice: Lattice;
@group(0) @binding(2) var<storage, read_write> lattice: Lattice;
@group(0) @binding(3) var<storage, read_write> grid_params: Params;

fn scaled(v: vec4<f32>, power: i32) -> vec4<f32> {
    return vec4<f32>(vector_times_power(v.xyz, power), times_power(v.w, power));
}

@compute @workgroup_size(1)
fn main() {
    let power = params.length_power;
    lattice.corner = vector_times_power(given_lattice.corner, power);
    lattice.width = times_power(given_lattice.width, power);
    // With shorter edges, coordinates along them might overflow. `most_cells` of -1
    // puts every sphere out of range.
    let longest = max(max(given_lattice.duals[0].w, given_lattice.duals[1].w), given_lattice.duals[2].w);
    let fits = times_power(longest, -power) <= MAX_MAGNITUDE;
    lattice.most_cells = select(-1.0, given_lattice.most_cells, fits);
    for (var k = 0u; k < 3u; k++) {
        lattice.edges[k] = scaled(given_lattice.edges[k], power);
        lattice.duals[k] = scaled(given_lattice.duals[k], -power);
        lattice.dual_bounds[k] = scaled(given_lattice.dual_bounds[k], -power);
        lattice.in_given_edges[k] = given_lattice.in_given_edges[k];
    }
    var own = params;
    own.length_power = 0;
    own.velocity_power = 0;
    grid_params = own;
}
