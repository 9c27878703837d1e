// Counts how many items of each block have each digit. The table has a row for each
// digit and a column for each block, and its prefix sums, row by row, are the positions
// to which the items move. Twin of `src/reduce/sort.rs`, which sorts with a library
// function.

#import carom::{CaromResults}
#import digit::{Digit, digit_of, item_count}

@group(0) @binding(0) var<uniform> digit: Digit;
@group(0) @binding(1) var<storage, read> results: CaromResults;
@group(0) @binding(2) var<storage, read> items_before: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> sort_counts: array<u32>;

var<workgroup> sh_counts: array<atomic<u32>, DIGITS>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = workgroup.x + workgroup.y * workgroups.x;
    for (var k = local; k < SORT_BLOCK; k += WORKGROUP) {
        let i = block * SORT_BLOCK + k;
        if i < item_count() {
            atomicAdd(&sh_counts[digit_of(items_before[i])], 1u);
        }
    }
    workgroupBarrier();
    let blocks = arrayLength(&sort_counts) / DIGITS;
    // Surplus workgroups of a dispatch with several rows write nothing.
    if local < DIGITS && block < blocks {
        sort_counts[local * blocks + block] = atomicLoad(&sh_counts[local]);
    }
}
