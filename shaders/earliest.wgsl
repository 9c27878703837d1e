// The earliest impact of each sphere: one pass fills the list with none, one finds
// the time and one, of those at that time, the smallest partner.
// Twin of `src/cpu/earliest.rs`.

const FILL = 0u;
const TIMES = 1u;
const PARTNERS = 2u;

override PASS: u32 = FILL;

@group(0) @binding(0) var<storage, read> results: CaromResults;
// CaromCollision, as bits: times are compared as such, whatever arithmetic may do
// to small numbers.
@group(0) @binding(1) var<storage, read> pairs: array<vec4<u32>>;
// CaromEarliest: time and partner of one sphere after the other.
@group(0) @binding(2) var<storage, read_write> earliest: array<atomic<u32>>;

// Bits of numbers that are not negative are in the order of the numbers.
fn visit(row: u32, partner: u32, toi: u32) {
    if PASS == TIMES {
        atomicMin(&earliest[2u * row], toi);
    } else if atomicLoad(&earliest[2u * row]) == toi {
        atomicMin(&earliest[2u * row + 1u], partner);
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if PASS == FILL {
        if 2u * index + 1u < arrayLength(&earliest) {
            atomicStore(&earliest[2u * index], bitcast<u32>(GREATEST));
            atomicStore(&earliest[2u * index + 1u], CAROM_NONE);
        }
    } else if index < results.pairs {
        let pair = pairs[index];
        let b = pair.y & ~CAROM_GRAZING;
        // 0 may have a sign.
        let toi = pair.z & 0x7fffffffu;
        visit(pair.x, b, toi);
        visit(b + results.split, pair.x, toi);
    }
}
