// Copies each pair once from a sorted list with repeats. `flag` marks the first of each
// pair, and `write` copies the marked ones after the prefix sum. Twin of
// `src/reduce/sort.rs`.

#import carom::{CAROM_GRAZING, CaromResults}
#import dispatch::{DispatchArguments, dispatch_over}
#import invocation::{invocation}
#import row_items::{times_of}

@group(0) @binding(0) var<storage, read_write> results: CaromResults;
@group(0) @binding(1) var<storage, read> sorted_items: array<vec4<u32>>;
// 1 for the first of each pair, later prefix sums.
@group(0) @binding(2) var<storage, read_write> first_flags: array<u32>;
// The bits of CaromCollisions.
@group(0) @binding(3) var<storage, read_write> sorted_bits: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> sorted_images: array<u32>;
@group(0) @binding(5) var<storage, read_write> sorted_dispatch: DispatchArguments;

// In a periodic domain.
override IMAGES: bool = false;

// The bit CAROM_GRAZING is ignored.
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
        let to = first_flags[index];
        let item = sorted_items[index];
        sorted_bits[to] = vec4<u32>(item.xy, times_of(item.w));
        if IMAGES {
            sorted_images[to] = item.z;
        }
    }
    if index == 0u {
        let count = first_flags[results.pairs];
        results.sorted = count;
        sorted_dispatch = dispatch_over(count);
        results.sorted_columns = sorted_dispatch.x;
    }
}
