// Computes the first impact of each sphere. `fill` initializes the list, `times`
// computes the times, and `partners` finds the sphere with the smallest index that is
// hit then. Twin of `src/reduce/earliest.rs`.

#import carom::{CAROM_GRAZING, CAROM_NONE, CaromResults}
#import invocation::{invocation}

// As bits, for atomicMin(): those of non-negative floats have the order of the floats.
struct Earliest {
    toi: atomic<u32>,
    partner: atomic<u32>,
}

@group(0) @binding(0) var<storage, read> results: CaromResults;
// CaromCollisions. Float arithmetic may flush subnormal times to 0.
@group(0) @binding(1) var<storage, read> pair_bits: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> earliest: array<Earliest>;

struct Seen {
    // Across both sets, and b in its own.
    row_a: u32,
    row_b: u32,
    b: u32,
    toi: u32,
}

fn seen(pair: vec4<u32>) -> Seen {
    let b = pair.y & ~CAROM_GRAZING;
    // A time of impact may be -0.
    return Seen(pair.x, b + results.b_offset, b, pair.z & 0x7fffffffu);
}

@compute @workgroup_size(WORKGROUP)
fn fill(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row = invocation(workgroup, workgroups, local, WORKGROUP);
    if row < arrayLength(&earliest) {
        atomicStore(&earliest[row].toi, bitcast<u32>(GREATEST));
        atomicStore(&earliest[row].partner, CAROM_NONE);
    }
}

@compute @workgroup_size(WORKGROUP)
fn times(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index < results.pairs {
        let pair = seen(pair_bits[index]);
        atomicMin(&earliest[pair.row_a].toi, pair.toi);
        atomicMin(&earliest[pair.row_b].toi, pair.toi);
    }
}

fn meet(row: u32, partner: u32, toi: u32) {
    if atomicLoad(&earliest[row].toi) == toi {
        atomicMin(&earliest[row].partner, partner);
    }
}

@compute @workgroup_size(WORKGROUP)
fn partners(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index < results.pairs {
        let pair = seen(pair_bits[index]);
        meet(pair.row_a, pair.b, pair.toi);
        // Sphere a is in the first or only set.
        meet(pair.row_b, pair.row_a, pair.toi);
    }
}
