// Writes the sorted list of pairs of a periodic domain, each pair once, with the image (periodic copy) of the
// second sphere of each pair. The entry point `flag` marks the first of several equal items. After the prefix
// sum of these flags, `write` copies the pairs of the marked items.

#import carom::{CAROM_GRAZING, CaromResults}
#import dispatch::{DispatchArguments, dispatch_over}
#import invocation::{invocation}

@group(0) @binding(0) var<storage, read_write> results: CaromResults;
// One item for each pair, in sorted order: a, b, the image of sphere b, and the index of the pair in the
// unsorted list.
@group(0) @binding(1) var<storage, read> sorted_items: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> pair_bits: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> first_flags: array<u32>;
@group(0) @binding(4) var<storage, read_write> sorted_bits: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> sorted_images: array<u32>;
@group(0) @binding(6) var<storage, read_write> sorted_dispatch: DispatchArguments;

// Returns whether item `index` is not a repeat of the item before it. A repeat has the same two spheres and the
// same image, even if only one of the two pairs is marked as grazing (undecided).
fn is_first(index: u32) -> bool {
    if index >= results.pairs {
        return false;
    }
    let differ = sorted_items[index].xyz ^ sorted_items[max(index, 1u) - 1u].xyz;
    return index == 0u || any((differ & vec3<u32>(~0u, ~CAROM_GRAZING, ~0u)) != vec3<u32>(0u));
}

@compute @workgroup_size(WORKGROUP)
fn flag(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index < arrayLength(&first_flags) {
        first_flags[index] = select(0u, 1u, is_first(index));
    }
}

@compute @workgroup_size(WORKGROUP)
fn write(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index >= arrayLength(&first_flags) {
        return;
    }
    if is_first(index) {
        let item = sorted_items[index];
        sorted_bits[first_flags[index]] = pair_bits[item.w];
        sorted_images[first_flags[index]] = item.z;
    }
    if index == 0u {
        let count = first_flags[results.pairs];
        results.sorted = count;
        sorted_dispatch = dispatch_over(count);
        results.sorted_columns = sorted_dispatch.x;
    }
}
