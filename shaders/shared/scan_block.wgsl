// Prefix sums over the invocations of a workgroup.

const SCAN_GROUP = 16u;
const_assert SCAN_GROUP * SCAN_GROUP == SCAN_WORKGROUP;

var<workgroup> sh_sums: array<u32, SCAN_WORKGROUP>;
var<workgroup> sh_group_sums: array<u32, SCAN_GROUP>;

// Returns the sum of `own` over all invocations of the workgroup with lower indices. Also writes the
// inclusive prefix sums to sh_sums, which other invocations can read after a further barrier. A barrier must
// separate such reads from a second call of this function.
//
// The 256 invocations form 16 groups of 16. Each invocation adds up the values of earlier invocations in its
// group, and the sums of all earlier groups. This takes only two barriers. A Hillis-Steele scan would take
// 16.
fn sum_before(own: u32, local: u32) -> u32 {
    sh_sums[local] = own;
    workgroupBarrier();
    let group = local / SCAN_GROUP;
    let place = local % SCAN_GROUP;
    var before = 0u;
    var all = 0u;
    for (var k = 0u; k < SCAN_GROUP; k++) {
        let number = sh_sums[group * SCAN_GROUP + k];
        before += select(0u, number, k < place);
        all += number;
    }
    if place == 0u {
        sh_group_sums[group] = all;
    }
    // Also separates earlier reads of sh_sums from the write that follows.
    workgroupBarrier();
    for (var k = 0u; k < SCAN_GROUP; k++) {
        before += select(0u, sh_group_sums[k], k < group);
    }
    sh_sums[local] = before + own;
    return before;
}
