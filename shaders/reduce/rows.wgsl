// Orders the list of pairs for a `Detector`, and packs it. Twin of `src/reduce/sort.rs`.

#import carom::{CaromResults}
#import invocation::{invocation}
#import row_order::{count_row, place_pair, rank_pair}
#import types::{Params}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> results: CaromResults;
// At first four words for each pair of the list, in the end three, or two.
@group(0) @binding(2) var<storage, read_write> records: array<u32>;
@group(0) @binding(3) var<storage, read_write> row_ends: array<atomic<u32>>;
// In the place of the list of found pairs.
@group(0) @binding(4) var<storage, read_write> row_pairs: array<vec4<u32>>;

fn image_at(index: u32) -> u32 {
    return 0u;
}

fn put_image(place: u32, image: u32) {}

@compute @workgroup_size(WORKGROUP)
fn count(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    count_row(invocation(workgroup, workgroups, local, WORKGROUP));
}

@compute @workgroup_size(WORKGROUP)
fn place(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    place_pair(invocation(workgroup, workgroups, local, WORKGROUP));
}

@compute @workgroup_size(WORKGROUP)
fn rank(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    rank_pair(invocation(workgroup, workgroups, local, WORKGROUP));
}
