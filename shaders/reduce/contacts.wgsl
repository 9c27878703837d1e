// Writes the indices of each sphere's pairs in the sorted list. `copy` makes a copy of
// the list, to be sorted by b. `rows` determines from both orders where the contacts of
// each sphere begin, and `fill` writes them. Twin of `src/reduce/contacts.rs`.

#import carom::{CaromCollision, CaromResults, carom_b}
#import invocation::{invocation}

@group(0) @binding(0) var<storage, read> results: CaromResults;
@group(0) @binding(1) var<storage, read> sorted_pairs: array<CaromCollision>;
// The index of b across both sets, and that of the pair in the list sorted by a. Sorted
// by x after `copy`.
@group(0) @binding(2) var<storage, read_write> pairs_by_b: array<vec4<u32>>;
// The number of pairs with a smaller a.
@group(0) @binding(3) var<storage, read_write> contact_starts: array<u32>;
@group(0) @binding(4) var<storage, read_write> contact_offsets: array<u32>;
@group(0) @binding(5) var<storage, read_write> contact_indices: array<u32>;

fn row_at(place: u32, of_b: bool) -> u32 {
    if of_b {
        return pairs_by_b[place].x;
    }
    return sorted_pairs[place].a;
}

// Pairs whose first sphere (second, if `of_b`) has an index below `row`, across both
// sets.
fn before(row: u32, of_b: bool) -> u32 {
    var low = 0u;
    var high = results.sorted;
    while low < high {
        let half = low + (high - low) / 2u;
        if row_at(half, of_b) < row {
            low = half + 1u;
        } else {
            high = half;
        }
    }
    return low;
}

@compute @workgroup_size(WORKGROUP)
fn copy(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index < results.sorted {
        pairs_by_b[index] = vec4<u32>(carom_b(sorted_pairs[index]) + results.b_offset, index, 0u, 0u);
    }
}

@compute @workgroup_size(WORKGROUP)
fn rows(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index < arrayLength(&contact_offsets) {
        contact_starts[index] = before(index, false);
        contact_offsets[index] = contact_starts[index] + before(index, true);
    }
}

@compute @workgroup_size(WORKGROUP)
fn fill(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index >= results.sorted {
        return;
    }
    // A contact of sphere b. Before it are `index` contacts from the list sorted by
    // b, and one from each pair whose a is below this sphere.
    let reverse = pairs_by_b[index];
    contact_indices[index + contact_starts[reverse.x]] = reverse.y;
    // A contact of sphere a. Before it are `index` contacts from the list sorted by
    // a, and one from each pair whose b is at most this sphere.
    let next = sorted_pairs[index].a + 1u;
    contact_indices[index + contact_offsets[next] - contact_starts[next]] = index;
}
