// As `unique.wgsl`, for a periodic domain: each pair once with each image.

#import carom::{CAROM_GRAZING, CaromResults}
#import dispatch::{DispatchArguments}
#import first_pairs::{flag_first, list_first}
#import invocation::{invocation}

@group(0) @binding(0) var<storage, read_write> results: CaromResults;
// a, b, the image of b, and the index in the unsorted list.
@group(0) @binding(1) var<storage, read> sorted_items: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> pair_bits: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> first_flags: array<u32>;
@group(0) @binding(4) var<storage, read_write> sorted_bits: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> sorted_images: array<u32>;
@group(0) @binding(6) var<storage, read_write> sorted_dispatch: DispatchArguments;

// The bit CAROM_GRAZING is ignored.
fn is_first(index: u32) -> bool {
    if index >= results.pairs {
        return false;
    }
    let differ = sorted_items[index].xyz ^ sorted_items[max(index, 1u) - 1u].xyz;
    return index == 0u || any((differ & vec3<u32>(~0u, ~CAROM_GRAZING, ~0u)) != vec3<u32>(0u));
}

fn write_pair(to: u32, index: u32) {
    let item = sorted_items[index];
    sorted_bits[to] = pair_bits[item.w];
    sorted_images[to] = item.z;
}

@compute @workgroup_size(WORKGROUP)
fn flag(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    flag_first(invocation(workgroup, workgroups, local, WORKGROUP));
}

@compute @workgroup_size(WORKGROUP)
fn write(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    list_first(invocation(workgroup, workgroups, local, WORKGROUP));
}
