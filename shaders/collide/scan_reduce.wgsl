// Computes the sum of each block of SCAN_BLOCK counts, as a part of a prefix sum. One workgroup per block.
// Twin of `src/cpu/scan.rs`.

@group(0) @binding(0) var<storage, read> counts: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;

const BLOCK_VECTORS = SCAN_BLOCK / 4u;

var<workgroup> sh_sum: atomic<u32>;

@compute @workgroup_size(SCAN_WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = workgroup.x + workgroup.y * workgroups.x;
    // Surplus workgroups of a dispatch with several rows write nothing.
    let in_use = block < arrayLength(&sums);
    var sum = vec4<u32>(0u);
    for (var k = local; k < BLOCK_VECTORS; k += SCAN_WORKGROUP) {
        let i = block * BLOCK_VECTORS + k;
        if in_use && i < arrayLength(&counts) {
            sum += counts[i];
        }
    }
    atomicAdd(&sh_sum, sum.x + sum.y + sum.z + sum.w);
    workgroupBarrier();
    if local == 0u && in_use {
        sums[block] = atomicLoad(&sh_sum);
    }
}
