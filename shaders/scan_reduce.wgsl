// Computes the sum of each block of SCAN_BLOCK counts.
// Twin of `src/cpu/scan.rs`.

@group(0) @binding(0) var<storage, read> counts: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;

var<workgroup> sh_sum: atomic<u32>;

@compute @workgroup_size(SCAN_WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = workgroup.x + workgroup.y * workgroups.x;
    var sum = 0u;
    for (var k = 0u; k < SCAN_EACH; k++) {
        let i = block * SCAN_BLOCK + k * SCAN_WORKGROUP + local;
        if block < arrayLength(&sums) && i < arrayLength(&counts) {
            sum += counts[i];
        }
    }
    atomicAdd(&sh_sum, sum);
    workgroupBarrier();
    if local == 0u && block < arrayLength(&sums) {
        sums[block] = atomicLoad(&sh_sum);
    }
}
