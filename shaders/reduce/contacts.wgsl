// Writes the indices of each sphere's pairs in the sorted list, and where they begin. Twin of
// `src/reduce/contacts.rs`.

#import carom::{CaromCollision, CaromResults}
#import invocation::{invocation}

@group(0) @binding(0) var<storage, read> results: CaromResults;
@group(0) @binding(1) var<storage, read> sorted_pairs: array<CaromCollision>;
// In the order of b: the index of b across both sets, and that of the pair in the sorted list.
@group(0) @binding(2) var<storage, read> pairs_by_b: array<vec4<u32>>;
// The number of pairs with a smaller or the same b.
@group(0) @binding(3) var<storage, read> contact_rows: array<u32>;
@group(0) @binding(4) var<storage, read> contact_starts: array<u32>;
@group(0) @binding(5) var<storage, read_write> contact_offsets: array<u32>;
@group(0) @binding(6) var<storage, read_write> contact_indices: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index < arrayLength(&contact_offsets) {
        let by_b = select(0u, contact_rows[max(index, 1u) - 1u], index > 0u);
        contact_offsets[index] = contact_starts[index] + by_b;
    }
    if index >= results.sorted {
        return;
    }
    // A contact of sphere b. Before it are `index` contacts from the list sorted by
    // b, and one from each pair whose a is below this sphere.
    let reverse = pairs_by_b[index];
    contact_indices[index + contact_starts[reverse.x]] = reverse.y;
    // A contact of sphere a. Before it are `index` contacts from the list sorted by
    // a, and one from each pair whose b is at most this sphere.
    contact_indices[index + contact_rows[sorted_pairs[index].a]] = index;
}
