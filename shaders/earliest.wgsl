// Computes the first impact of each sphere. `fill` initializes the list, `times` computes the
// times, and `partners` the smallest index of a sphere that is hit at that time.
// Twin of `src/reduce/earliest.rs`.

#import carom::{CAROM_GRAZING, CAROM_NONE, CaromResults}
#import invocation::{invocation}

// CaromEarliest as bits. The bits of non-negative numbers are in the order of the numbers.
struct Earliest {
    toi: atomic<u32>,
    partner: atomic<u32>,
}

@group(0) @binding(0) var<storage, read> results: CaromResults;
// CaromCollision as bits. Times are compared as bits because float arithmetic may flush
// subnormal numbers to 0.
@group(0) @binding(1) var<storage, read> pair_bits: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> earliest: array<Earliest>;

// The values of a pair that are needed for both of its spheres.
struct Seen {
    // Row of a, row of b, and index of b in its own set.
    row_a: u32,
    row_b: u32,
    b: u32,
    // Bits of the time of impact.
    toi: u32,
}

fn seen(pair: vec4<u32>) -> Seen {
    let b = pair.y & ~CAROM_GRAZING;
    // The sign bit is cleared because a time may be -0.
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

// Records an impact with `partner` at time `toi` for the sphere of a row. The row keeps the
// smallest partner of those at its first time.
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
        // The row of a is also its index.
        meet(pair.row_b, pair.row_a, pair.toi);
    }
}
