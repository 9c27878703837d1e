// Adds the status of the step between spheres and triangles to the status of the whole step or substep. Dispatched as
// one invocation, in a step after `wall_results.wgsl`.

#import carom::{CAROM_IMAGE_OUT_OF_RANGE, CAROM_MESH_TRUNCATED, CAROM_NONE, CAROM_TOO_CROWDED}
#import carom::{CAROM_TOO_MANY_SEGMENTS, CAROM_TRUNCATED, CAROM_UNFINISHED, CAROM_WALL, CaromResults}

@group(0) @binding(0) var<storage, read> mesh_results: CaromResults;
@group(0) @binding(1) var<storage, read_write> results: CaromResults;

@compute @workgroup_size(1)
fn main() {
    let status = mesh_results.status;
    let truncated = (status & (CAROM_TRUNCATED | CAROM_TOO_MANY_SEGMENTS)) != 0u;
    results.status |= select(0u, CAROM_MESH_TRUNCATED, truncated)
        | (status & (CAROM_TOO_CROWDED | CAROM_UNFINISHED | CAROM_IMAGE_OUT_OF_RANGE));
    let sphere = mesh_results.out_of_range;
    if results.out_of_range == CAROM_NONE && sphere != CAROM_NONE {
        let first = mesh_results.b_offset;
        // Indices below `first` mean spheres, the others triangles.
        results.out_of_range = select(sphere, (sphere - first) | CAROM_WALL, sphere >= first);
    }
}
