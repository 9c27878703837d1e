// Replaces each block of SCAN_BLOCK counts by its exclusive prefix sums, starting from the sum
// of the blocks before it.
// Twin of `src/cpu/scan.rs`.

#import scan_block::{sum_before}

@group(0) @binding(0) var<storage, read_write> counts: array<u32>;
@group(0) @binding(1) var<storage, read> sums: array<u32>;

@compute @workgroup_size(SCAN_WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = workgroup.x + workgroup.y * workgroups.x;
    var begin = 0u;
    var end = 0u;
    var sum = 0u;
    // A dispatch that is folded into rows may have more workgroups than there are blocks. Their
    // invocations must not return, because sum_before() has barriers.
    if block < arrayLength(&sums) {
        begin = block * SCAN_BLOCK + local * SCAN_EACH;
        end = min(begin + SCAN_EACH, arrayLength(&counts));
        sum = sums[block];
    }
    var own = 0u;
    for (var k = begin; k < end; k++) {
        own += counts[k];
    }
    sum += sum_before(own, local);
    for (var k = begin; k < end; k++) {
        let count = counts[k];
        counts[k] = sum;
        sum += count;
    }
}
