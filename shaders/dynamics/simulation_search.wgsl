// Sets the parameters of a search whose spheres earlier kernels have stored: the search for candidate pairs of
// spheres or, with SEARCH_TRIANGLES, the search for spheres near triangles. Dispatched as one invocation. Takes the
// place of `load_params.wgsl` and `load_units.wgsl`.

#import carom::{CaromSimulation}
#import dynamics::{SimulationRequest}
#import step_params::{sample_size, unit_power}
#import types::{Counters, Params}

@group(0) @binding(0) var<uniform> simulation_request: SimulationRequest;
@group(0) @binding(1) var<uniform> simulation: CaromSimulation;
// With meshes: the number of spheres near meshes is in the element after those of all spheres.
@group(0) @binding(2) var<storage, read> row_starts: array<u32>;
@group(0) @binding(3) var<storage, read_write> params: Params;
@group(0) @binding(4) var<storage, read_write> counters: Counters;

override SEARCH_TRIANGLES: bool = false;

@compute @workgroup_size(1)
fn main() {
    var spheres = simulation.spheres;
    params.flags &= ~FLAG_TWO_SETS;
    params.b_offset = 0u;
    if SEARCH_TRIANGLES {
        let near = row_starts[simulation.spheres];
        spheres = 0u;
        if near > 0u {
            spheres = near + simulation_request.triangles;
            params.flags |= FLAG_TWO_SETS;
            params.b_offset = near;
        }
    }
    params.spheres = spheres;
    params.sample = sample_size(spheres);
    let extent = max(atomicLoad(&counters.extent), bitcast<u32>(simulation_request.domain_extent));
    // The unit of an earlier substep is replaced.
    let change = unit_power(extent) + params.length_power;
    params.length_power -= change;
    params.velocity_power -= change;
}
