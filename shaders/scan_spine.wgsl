// Replaces at most SCAN_BLOCK words by their exclusive prefix sums. Dispatched as one
// workgroup.
// Twin of `src/cpu/scan.rs`.

#import scan_block::{sum_before}

@group(0) @binding(0) var<storage, read_write> sums: array<u32>;

@compute @workgroup_size(SCAN_WORKGROUP)
fn main(@builtin(local_invocation_index) local: u32) {
    let length = arrayLength(&sums);
    var own = 0u;
    for (var k = local * SCAN_EACH; k < min((local + 1u) * SCAN_EACH, length); k++) {
        own += sums[k];
    }
    var sum = sum_before(own, local);
    for (var k = local * SCAN_EACH; k < min((local + 1u) * SCAN_EACH, length); k++) {
        let count = sums[k];
        sums[k] = sum;
        sum += count;
    }
}
