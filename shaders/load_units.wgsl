// Chooses the shaders' unit of length: the caller's unit times a power of two. In this unit, the square
// of a length underflows only if it is far below the rounding errors of the tests. Dispatched as one
// invocation. Twin of `Units` in `src/shared/units.rs`.

#import types::{Counters, Params}

@group(0) @binding(0) var<storage, read_write> params: Params;
@group(0) @binding(1) var<storage, read_write> counters: Counters;

@compute @workgroup_size(1)
fn main() {
    let extent = atomicLoad(&counters.extent);
    if extent == 0u || extent >= bitcast<u32>(LEAST_USUAL) {
        return;
    }
    // Computes the exponent of the largest power of two that is at most the extent (the largest length
    // in the input). It is in the exponent bits of the extent. If the extent is subnormal, these bits
    // are 0, and the exponent follows from the position of the highest set bit.
    var power = i32(extent >> 23u) - 127;
    if power == -127 {
        power = i32(firstLeadingBit(extent)) - 149;
    }
    params.length_power = -power;
    params.velocity_power -= power;
}
