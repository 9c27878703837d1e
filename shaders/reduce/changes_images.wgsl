// As `changes.wgsl`, for a periodic domain: pairs with other images are other pairs.

#import carom::{CaromCollision, CaromResults, carom_b}
#import invocation::{invocation}
#import pair_changes::{flag_change, keep_for_next, list_change}

@group(0) @binding(0) var<storage, read_write> results: CaromResults;
@group(0) @binding(1) var<storage, read> sorted_pairs: array<CaromCollision>;
@group(0) @binding(2) var<storage, read> sorted_images: array<u32>;
// a, b, the image of b, and an unused word.
@group(0) @binding(3) var<storage, read_write> kept_image_pairs: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> kept_count: u32;
@group(0) @binding(5) var<storage, read_write> change_flags: array<u32>;
@group(0) @binding(6) var<storage, read_write> changes: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> change_images: array<u32>;

fn now(index: u32) -> vec3<u32> {
    return vec3<u32>(sorted_pairs[index].a, carom_b(sorted_pairs[index]), sorted_images[index]);
}

fn kept(index: u32) -> vec3<u32> {
    return kept_image_pairs[index].xyz;
}

fn write_change(to: u32, pair: vec3<u32>) {
    changes[to] = pair.xy;
    change_images[to] = pair.z;
}

fn keep_pair(index: u32, pair: vec3<u32>) {
    kept_image_pairs[index] = vec4<u32>(pair, 0u);
}

@compute @workgroup_size(WORKGROUP)
fn flag(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    flag_change(invocation(workgroup, workgroups, local, WORKGROUP));
}

@compute @workgroup_size(WORKGROUP)
fn write(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    list_change(invocation(workgroup, workgroups, local, WORKGROUP));
}

@compute @workgroup_size(WORKGROUP)
fn keep(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    keep_for_next(invocation(workgroup, workgroups, local, WORKGROUP));
}
