// Exclusive prefix sums over the invocations of a workgroup, each of which gives a number.

// Invocations are summed in groups of this many first.
const SCAN_GROUP = 16u;
const_assert SCAN_GROUP * SCAN_GROUP == SCAN_WORKGROUP;

var<workgroup> sh_sums: array<u32, SCAN_WORKGROUP>;
var<workgroup> sh_group_sums: array<u32, SCAN_GROUP>;

// Returns the sum of the numbers given by the invocations before this one. After one more
// barrier, sh_sums holds the inclusive prefix sums. Every invocation reads up to 32 numbers
// instead of adding in eight rounds, because a round costs two barriers.
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
    // All have read sh_sums, too, before an invocation writes to it again.
    workgroupBarrier();
    for (var k = 0u; k < SCAN_GROUP; k++) {
        before += select(0u, sh_group_sums[k], k < group);
    }
    sh_sums[local] = before + own;
    return before;
}
