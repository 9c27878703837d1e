// Copies each pair once from a sorted list with repeats. `flag` marks the first of each
// pair, and `write` copies the marked ones after the prefix sum. Twin of
// `src/reduce/sort.rs`.

#import carom::{CAROM_GRAZING, CaromResults}
#import dispatch::{DispatchArguments}
#import first_pairs::{flag_first, list_first}
#import invocation::{invocation}

@group(0) @binding(0) var<storage, read_write> results: CaromResults;
// The bits of CaromCollisions.
@group(0) @binding(1) var<storage, read> repeated_pairs: array<vec4<u32>>;
// 1 for the first of each pair, later prefix sums.
@group(0) @binding(2) var<storage, read_write> first_flags: array<u32>;
@group(0) @binding(3) var<storage, read_write> sorted_bits: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> sorted_dispatch: DispatchArguments;

// The bit CAROM_GRAZING is ignored.
fn is_first(index: u32) -> bool {
    if index >= results.pairs {
        return false;
    }
    let own = repeated_pairs[index].xy;
    let before = repeated_pairs[max(index, 1u) - 1u].xy;
    return index == 0u || own.x != before.x || ((own.y ^ before.y) & ~CAROM_GRAZING) != 0u;
}

fn write_pair(to: u32, index: u32) {
    sorted_bits[to] = repeated_pairs[index];
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
