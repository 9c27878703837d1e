// Chooses the shaders' unit of length from the largest length in the input. Dispatched as one invocation.

#import step_params::{unit_power}
#import types::{Counters, Params}

@group(0) @binding(0) var<storage, read_write> params: Params;
@group(0) @binding(1) var<storage, read_write> counters: Counters;

@compute @workgroup_size(1)
fn main() {
    let power = unit_power(atomicLoad(&counters.extent));
    params.length_power = -power;
    params.velocity_power -= power;
}
