// Makes an item of each pair, and puts it anywhere in the row of its a. `count` counts the
// pairs of each row, and prefix sums make the first places of the rows for `place`. Twin of
// `src/reduce/sort.rs`, which sorts with a library function.

#import carom::{CaromResults}
#import invocation::{invocation}
#import row_items::{value_of}

@group(0) @binding(0) var<storage, read> results: CaromResults;
@group(0) @binding(1) var<storage, read> pair_bits: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> pair_images: array<u32>;
// After `place`, the end of each row.
@group(0) @binding(3) var<storage, read_write> sort_rows: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> longest_row: u32;
@group(0) @binding(5) var<storage, read_write> items_after: array<vec4<u32>>;

// Otherwise, all pairs have the image 0.
override IMAGES: bool = false;

@compute @workgroup_size(WORKGROUP)
fn count(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index < results.pairs {
        atomicAdd(&sort_rows[pair_bits[index].x], 1u);
    }
    if index == 0u {
        longest_row = 0u;
    }
}

@compute @workgroup_size(WORKGROUP)
fn place(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index >= results.pairs {
        return;
    }
    let pair = pair_bits[index];
    var image = 0u;
    if IMAGES {
        image = pair_images[index];
    }
    let to = atomicAdd(&sort_rows[pair.x], 1u);
    items_after[to] = vec4<u32>(pair.xy, image, value_of(pair.z, pair.w));
}
