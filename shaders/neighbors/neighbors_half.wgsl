// Writes a half neighbour list from the sorted list of pairs.

#import carom::{CaromCollision, CaromNeighbor, CaromResults}
#import invocation::{invocation}
#import neighbor_entry::{neighbor_of}
#import neighbors::{NeighborRequest}

@group(0) @binding(0) var<uniform> neighbor_request: NeighborRequest;
@group(0) @binding(1) var<storage, read> results: CaromResults;
@group(0) @binding(2) var<storage, read> sorted_pairs: array<CaromCollision>;
@group(0) @binding(3) var<storage, read> list_images: array<u32>;
@group(0) @binding(4) var<storage, read_write> neighbors: array<CaromNeighbor>;
@group(0) @binding(5) var<storage, read_write> neighbor_offsets: array<u32>;

fn before(row: u32) -> u32 {
    var low = 0u;
    var high = results.sorted;
    while low < high {
        let half = low + (high - low) / 2u;
        if sorted_pairs[half].a < row {
            low = half + 1u;
        } else {
            high = half;
        }
    }
    return low;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if neighbor_request.full != 0u {
        return;
    }
    if index < arrayLength(&neighbor_offsets) {
        neighbor_offsets[index] = before(index);
    }
    if index < results.sorted {
        neighbors[index] = neighbor_of(index);
    }
}
