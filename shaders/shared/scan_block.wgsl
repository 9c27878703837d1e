// Prefix sums over the invocations of a workgroup.

var<workgroup> sh_sums: array<u32, SCAN_WORKGROUP>;

// Returns the sum of `own` over all invocations before this one. After one more barrier,
// sh_sums holds the inclusive prefix sums. Between two calls, no barrier is needed unless
// sh_sums has been read.
fn sum_before(own: u32, local: u32) -> u32 {
    sh_sums[local] = own;
    for (var step = 1u; step < SCAN_WORKGROUP; step *= 2u) {
        workgroupBarrier();
        var before = 0u;
        if local >= step {
            before = sh_sums[local - step];
        }
        // No invocation may write before all have read.
        workgroupBarrier();
        sh_sums[local] += before;
    }
    return sh_sums[local] - own;
}
