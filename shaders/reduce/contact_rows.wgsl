// Puts each pair of the sorted list anywhere in the row of its b, with its index as its
// place there. `count` counts the pairs of each row, and prefix sums make the first places of the rows
// for `place`. `count` also determines where the pairs of each a begin. Twin of
// `src/reduce/contacts.rs`.

#import carom::{CaromCollision, CaromResults, carom_b}
#import invocation::{invocation}

@group(0) @binding(0) var<storage, read> results: CaromResults;
@group(0) @binding(1) var<storage, read> sorted_pairs: array<CaromCollision>;
// The ends of the rows of a in the list with repeats, and the places of its pairs in the sorted list.
@group(0) @binding(2) var<storage, read> sort_rows: array<u32>;
@group(0) @binding(3) var<storage, read> first_flags: array<u32>;
// After `place`, the end of each row.
@group(0) @binding(4) var<storage, read_write> contact_rows: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> longest_row: u32;
@group(0) @binding(6) var<storage, read_write> items_after: array<vec4<u32>>;
// The number of pairs with a smaller a.
@group(0) @binding(7) var<storage, read_write> contact_starts: array<u32>;

// Across both sets.
fn b_of(index: u32) -> u32 {
    return carom_b(sorted_pairs[index]) + results.b_offset;
}

@compute @workgroup_size(WORKGROUP)
fn count(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index < results.sorted {
        atomicAdd(&contact_rows[b_of(index)], 1u);
    }
    if index < arrayLength(&contact_starts) {
        contact_starts[index] = first_flags[select(0u, sort_rows[max(index, 1u) - 1u], index > 0u)];
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
    if index < results.sorted {
        let b = b_of(index);
        items_after[atomicAdd(&contact_rows[b], 1u)] = vec4<u32>(b, index, 0u, 0u);
    }
}
