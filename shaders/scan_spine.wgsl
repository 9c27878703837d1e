// Exclusive prefix sums of at most 2048 words, in place. One workgroup.

@group(0) @binding(0) var<storage, read_write> sums: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) local: u32) {
    let length = arrayLength(&sums);
    var own = 0u;
    for (var k = local * 8u; k < min(local * 8u + 8u, length); k++) {
        own += sums[k];
    }
    var sum = sum_before(own, local);
    for (var k = local * 8u; k < min(local * 8u + 8u, length); k++) {
        let count = sums[k];
        sums[k] = sum;
        sum += count;
    }
}
