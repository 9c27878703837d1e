// Completes a step that makes or keeps a neighbour list. Dispatched as one invocation.

#import carom::{CAROM_INCOMPLETE, CaromResults}
#import dispatch::{DispatchArguments, dispatch_over}
#import neighbors::{NeighborRequest, NeighborState}
#import types::{Params}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> neighbor_request: NeighborRequest;
@group(0) @binding(2) var<storage, read_write> neighbor_state: NeighborState;
@group(0) @binding(3) var<storage, read_write> results: CaromResults;
@group(0) @binding(4) var<storage, read_write> neighbors_dispatch: DispatchArguments;

@compute @workgroup_size(1)
fn main() {
    results.kept = neighbor_state.kept;
    if neighbor_state.kept != 0u {
        // The other fields are those of the step that made the list.
        results.serial = params.serial;
        return;
    }
    results.neighbors = results.sorted * (1u + neighbor_request.full);
    neighbors_dispatch = dispatch_over(results.neighbors);
    results.neighbor_columns = neighbors_dispatch.x;
    // Other lists are not kept.
    if (results.status & CAROM_INCOMPLETE) == 0u && (params.flags & FLAG_TRUSTED) != 0u {
        neighbor_state.request = neighbor_request;
        neighbor_state.particles = params.spheres;
    }
}
