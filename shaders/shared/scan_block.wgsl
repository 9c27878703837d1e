// Prefix sums over the invocations of a workgroup.

const SCAN_GROUP = 16u;
const_assert SCAN_GROUP * SCAN_GROUP == SCAN_WORKGROUP;

var<workgroup> sh_sums: array<u32, SCAN_WORKGROUP>;
var<workgroup> sh_group_sums: array<u32, SCAN_GROUP>;

// Returns the sum of `own` over the invocations with lower indices. Also writes the
// inclusive prefix sums to sh_sums, to be read after a further barrier, and before
// another one that precedes a second call. Each of 16 groups of 16 adds up its own
// values, then the sums of earlier groups: two barriers, where a Hillis-Steele scan
// would take 16.
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
    // Also separates earlier reads from the next write.
    workgroupBarrier();
    for (var k = 0u; k < SCAN_GROUP; k++) {
        before += select(0u, sh_group_sums[k], k < group);
    }
    sh_sums[local] = before + own;
    return before;
}
