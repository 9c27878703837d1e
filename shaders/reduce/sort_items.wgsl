// Makes items of the pairs of a periodic domain: a, b, the image of b, and the index of
// the pair.

#import carom::{CaromResults}
#import invocation::{invocation}

@group(0) @binding(0) var<storage, read> results: CaromResults;
@group(0) @binding(1) var<storage, read> pair_bits: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> pair_images: array<u32>;
@group(0) @binding(3) var<storage, read_write> items_after: array<vec4<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = invocation(workgroup, workgroups, local, WORKGROUP);
    if index < results.pairs {
        items_after[index] = vec4<u32>(pair_bits[index].xy, pair_images[index], index);
    }
}
