// Writes a full neighbour list from the sorted list of pairs and the tables of
// `contacts.wgsl`.

#import carom::{CaromCollision, CaromNeighbor, CaromResults, carom_b}
#import invocation::{invocation}
#import neighbor_entry::{neighbor_of, reversed}
#import neighbors::{NeighborRequest}

@group(0) @binding(0) var<uniform> neighbor_request: NeighborRequest;
@group(0) @binding(1) var<storage, read> results: CaromResults;
@group(0) @binding(2) var<storage, read> sorted_pairs: array<CaromCollision>;
@group(0) @binding(3) var<storage, read> list_images: array<u32>;
// Sorted by b: the index of b, and the index in the list sorted by a.
@group(0) @binding(4) var<storage, read> pairs_by_b: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> contact_starts: array<u32>;
@group(0) @binding(6) var<storage, read> contact_offsets: array<u32>;
@group(0) @binding(7) var<storage, read_write> neighbors: array<CaromNeighbor>;
@group(0) @binding(8) var<storage, read_write> neighbor_offsets: array<u32>;

fn is_same_pair(one: u32, other: u32) -> bool {
    return sorted_pairs[one].a == sorted_pairs[other].a
        && carom_b(sorted_pairs[one]) == carom_b(sorted_pairs[other]);
}

// Seen from b, the images of a pair change sign, so the order of those pairs that
// differ only in the image must be reversed. Returns the pair that takes the place of
// pair `index`.
fn mirrored(index: u32) -> u32 {
    var first = index;
    var last = index;
    while first > 0u && is_same_pair(first - 1u, index) {
        first--;
    }
    while last + 1u < results.sorted && is_same_pair(last + 1u, index) {
        last++;
    }
    return first + last - index;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if neighbor_request.full == 0u {
        return;
    }
    if index < arrayLength(&neighbor_offsets) {
        neighbor_offsets[index] = contact_offsets[index];
    }
    if index >= results.sorted {
        return;
    }
    // First the pairs in which the particle is b, then those in which it is a.
    let next = sorted_pairs[index].a + 1u;
    neighbors[index + contact_offsets[next] - contact_starts[next]] = neighbor_of(index);
    let by_b = pairs_by_b[index];
    let pair = mirrored(by_b.y);
    neighbors[index + contact_starts[by_b.x]] = reversed(neighbor_of(pair));
}
