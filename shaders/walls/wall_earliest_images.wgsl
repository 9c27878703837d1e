// Runs after `earliest_images.wgsl`, for each sphere whose first impact is with a wall. In the list of wall
// collisions, the sphere is displaced by n periodic edges. In the result, the wall is displaced by −n, and
// the sphere is not.

#import carom::{CAROM_GRAZING, CAROM_WALL, CaromResults, carom_image}
#import image_word::{pack_image}
#import invocation::{invocation}

@group(0) @binding(0) var<storage, read> results: CaromResults;
@group(0) @binding(1) var<storage, read> wall_bits: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> wall_images: array<u32>;
@group(0) @binding(3) var<storage, read> earliest_bits: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> earliest_images: array<atomic<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index < results.walls {
        let hit = wall_bits[index];
        let partner = (hit.y & ~CAROM_GRAZING) | CAROM_WALL;
        // The sign bit is cleared because a time of impact may be -0.
        if all(earliest_bits[hit.x] == vec2<u32>(hit.z & 0x7fffffffu, partner)) {
            atomicMin(&earliest_images[hit.x], pack_image(-carom_image(wall_images[index])));
        }
    }
}
