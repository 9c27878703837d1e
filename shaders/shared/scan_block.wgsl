// Exclusive prefix sums of a number from each invocation of a workgroup.

var<workgroup> sh_sums: array<u32, SCAN_WORKGROUP>;

// The sum of what the invocations before this one gave. After one more barrier,
// sh_sums has all these sums, each with its own in it.
fn sum_before(own: u32, local: u32) -> u32 {
    sh_sums[local] = own;
    for (var step = 1u; step < SCAN_WORKGROUP; step *= 2u) {
        workgroupBarrier();
        var before = 0u;
        if local >= step {
            before = sh_sums[local - step];
        }
        // Nobody writes before all have read.
        workgroupBarrier();
        sh_sums[local] += before;
    }
    return sh_sums[local] - own;
}
