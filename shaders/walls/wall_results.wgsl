// Writes the results of the stage `walls` for users' shaders, and the size of the indirect dispatches over
// the wall collisions. Dispatched as one invocation, after `results.wgsl`.

#import carom::{CAROM_IMAGE_OUT_OF_RANGE, CAROM_NONE, CAROM_UNFINISHED, CAROM_WALLS_TRUNCATED, CaromResults}
#import dispatch::{DispatchArguments, dispatch_over}
#import types::{Params, WallCounters, WallParams}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> wall_params: WallParams;
@group(0) @binding(2) var<storage, read_write> wall_counters: WallCounters;
@group(0) @binding(3) var<storage, read_write> results: CaromResults;
@group(0) @binding(4) var<storage, read_write> walls_dispatch: DispatchArguments;

@compute @workgroup_size(1)
fn main() {
    let found = vec2<u32>(atomicLoad(&wall_counters.found[0]), atomicLoad(&wall_counters.found[1]));
    let out_of_range = atomicLoad(&wall_counters.out_of_range);
    let truncated = found.y > 0u || found.x > wall_params.capacity;
    let unfinished = (params.flags & FLAG_WATCH) != 0u
        && atomicLoad(&wall_counters.finished) != params.spheres;
    results.status |= select(0u, CAROM_WALLS_TRUNCATED, truncated)
        | select(0u, CAROM_IMAGE_OUT_OF_RANGE, out_of_range > 0u)
        | select(0u, CAROM_UNFINISHED, unfinished);
    if results.out_of_range == CAROM_NONE {
        // 1 plus the index of a sphere, or 0: 0 - 1 wraps around to CAROM_NONE.
        results.out_of_range = out_of_range - 1u;
    }
    results.walls_found = found;
    results.first_triangle = wall_params.count;
    results.walls = select(found.x, wall_params.capacity, truncated);
    walls_dispatch = dispatch_over(results.walls);
    results.wall_columns = walls_dispatch.x;
}
